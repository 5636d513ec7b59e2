pln(16) m4<1>F g5.4<0,1,0>F g6<8,8,1>F { align1 compr4 };
pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { align1 compr compacted };
nenop ;
dp4(8) g4<1>.xF g5<4>F g1<0>F { align16 NoDDClr };
movi(8) g9<1>UB g[a0]<1,1,0>UB { align1 };
send(8) 14 g11<1>F g0<4>F 0x042150ff read MsgDesc: OWord Dual Block Read MsgCtrl = 0x0 Surface = 255 mlen 2 rlen 1 { align16 };
send(8) 0 null<1>F g0<8,8,1>F 0x8640c8c0 urb MsgDesc: offset 12 urb_write transpose used complete mlen 4 rlen 0 { align1 EOT };
