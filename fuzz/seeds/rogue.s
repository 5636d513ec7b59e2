0 : if (p0)
 mul ft0, s0, s1 # phase 0 instruction
 mad ft1, s3, s4, s5
 mul ft2, is0, ft0
 tstz.f32 ftt, p0, is1
 movc w0,w1, ftt, ft0, ft1
 uvsw w0
1 : olchk
 s0 = r4, s1 = vi1, s2 = cf3, s3 = sh4, s4 = sc64, s5 = r200
 is0 = s1, is1 = fte, is2 = ft1, is3 = ft1, is4 = ft0, is5 = ft2
 fmad.lp.sat ft0, s0.abs.neg, s1.neg, s2.flr.abs
 fadd ft1, s3.flr, s4.abs
 pck.roundzero.scale.u8888 ft2, is3
 tst.s32.ge ftt, p0, is1, is2
 movc.e0.e3 w0, w1, ftt, ft1, is4, fte, is5
 w0 = po0, w1 = idx1
2 : (ignorepe) repeat(2) atom long
 s0 = cf0[idx0], s3 = r9
 imadd64.s ft0, fte, s0, s1, s2.neg, is0, p0
 w0 = cf3[idx1], w1 = r1
3 :
 s0 = r0, s3 = r1
 fred.cos.b w0, w1, _, s0.neg, s3, 3
 w0 = r1
4 : if (!p0) lower(3lo_3b8i_2b8i_3b8i_3m) upper(2up_2b7i_2b7i)
 s0 = r0
 unpck.e1.scale.f16f16 ft0, s0
 mbyp.long(1) ft1, s3
 w0 = r1
5 :
 s0 = sc5, s1 = sc3, s2 = r0, s3 = r1, s4 = sc4
 msk_lsl.ftb ft0, ft1, ft2, s0, s1, s2
 logical.xnor ft4, ft1, ft2, ~ft1, s3
 shift.asr_mtb.ft3.nz ft5, ft4, s4, p0
 w0 = r1, w1 = r2
6 :
 bbyp0bm_imm32 ft0, ft1, s0, 0x3f800000
 w0 = r3
7 :
 s2 = r3
 rev ft2, s2
 w1 = r4
8 : (ignorepe)
 s0 = r14
 cndst.if(!p0) pe, w0, s0, 2
 w0 = r14
9 :
 br.allinst @12
10 :
 br.link.anyinst -20
11 :
 ditrp.centroid.swap.f16.sat.cf(idx0) r8, drc1, cf20, cf0, 16
12 :
 wdf drc1
13 :
 s0 = sh4, s1 = r0, s2 = sh8, s4 = r4
 smp.3d.proj.fcnorm.bias.pplod.tao.soo.coeffs.array.f16.bypass s4, drc0, s0, s1, s2, s3, 4
14 :
 s0 = sh4, s1 = r0, s2 = sh8
 smp.wrt.2d.nncoords.replace.lazywriteback s4, drc0, s0, s1, s2, s3, 4
15 :
 s0 = r2, s3 = r4
 ld.bypass.kept(1) s3, drc1, 16, s0
16 :
 s0 = r2, s3 = r4, s4 = r8
 st.tiled.writeback.kept(5) s3, 2, drc0, 4, s0, s4
17 :
 s0 = r2, s3 = r8
 atomic.umax s3, drc0, s0
18 :
 s0 = r0, s1 = r1, s2 = sc7
 alphaf p0, drc0, s0, s1, s2
19 :
 s0 = cf4, s2 = cf0, s3 = r0
 fitrp.sample.sat s3, drc1, s0, s2, 4
20 : pad(1)
 is4 = fte
 uvsw.write.emit.endtask w0, 0x8
21 :
 mutex.release.sleep 4
22 :
 itrsmp.2d.proj.pixel.iter_mul.wdf.f16.cf(idx1) r4, drc0, cf4, cf8, 3, 5, 4, 2
23 : end
 nop
