//! Words of launches and of memory: every field keeps what it is given, and what is reserved is refused.

use gpucc_rogue::words::{self, pds, streams, texture};

#[test]
fn every_field_keeps_every_value_that_it_may_have() {
    let mut seen = 0;
    for word in words::all() {
        for field in word.format.fields().filter(|field| !word.is_fixed(field)) {
            let most = if field.width() == 32 { u32::MAX } else { (1 << field.width()) - 1 };
            for value in
                [0, 1, most / 3, most / 2, most].into_iter().filter(|&value| field.accepts(value))
            {
                let inst = gpucc_isa::Inst::new(word).with(field.id, value);
                assert_eq!(
                    words::decode(word, inst.bits()),
                    Ok(inst),
                    "{} {}",
                    word.name,
                    field.name
                );
                assert_eq!(inst.get(field.id), value);
                seen += 1;
            }
        }
        // The bits that no field has are reserved, and bits that tell the word from others are its own.
        let all = if word.format.bits == 64 { u128::from(u64::MAX) } else { u128::from(u32::MAX) };
        for bit in (0..word.format.bits).map(|bit| 1u128 << bit) {
            if (word.mask | all & !word.format.used()) & bit != 0 {
                assert!(words::decode(word, word.bits ^ bit).is_err(), "{} {bit:#x}", word.name);
            }
        }
    }
    assert!(seen > 400, "only {seen} values");
}

#[test]
fn words_are_what_the_page_says() {
    // The kick program: DOUTU END of constants 0 and up.
    let kick = pds::dout::word().with(pds::dout::END, 1).with(pds::dout::DST, 2);
    assert_eq!(kick.bits(), 0xf400_0002);
    let start = pds::doutu::word().with(pds::doutu::EXE_OFF, 0x100 / 4).with(pds::doutu::TEMPS, 5);
    assert_eq!(start.bits(), 0x28_0000_0100);
    let halt = pds::sp::word().with(pds::sp::OP, 6);
    assert_eq!(halt.bits(), 0xd300_0000);
    // A kernel of one workgroup of 32 instances on any core.
    let kernel = streams::cdm_kernel0::word().with(streams::cdm_kernel0::TARGET, 1);
    assert_eq!(kernel.bits(), 2);
    let sizes = streams::cdm_kernel8::word().with(streams::cdm_kernel8::X, 31);
    assert_eq!(sizes.bits(), 31 << 18);
    assert_eq!(streams::cdm_terminate::word().bits(), 2 << 30);
    // A picture of 256 times 128 texels of U8888 as it lies.
    let image = texture::image0::word()
        .with(texture::image0::WIDTH, 255)
        .with(texture::image0::HEIGHT, 127)
        .with(texture::image0::FORMAT, 12)
        .with(texture::image0::SWIZ1, 1)
        .with(texture::image0::SWIZ2, 2)
        .with(texture::image0::SWIZ3, 3)
        .with(texture::image0::TEXTYPE, 1);
    assert_eq!(image.bits(), 127 << 48 | 255 << 34 | 12 << 27 | 1 << 11 | 2 << 8 | 3 << 5 | 1);
}
