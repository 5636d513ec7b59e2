//! The picture of the README: the same on the emulated machine and in the interpreter.

use std::path::Path;
use std::process::Command;

/// Renders the phong sample; gives RGBA bytes.
fn render(target: &str, size: u32) -> Vec<u8> {
    let out = std::env::temp_dir().join(format!("gpucc-phong-{target}-{}.png", std::process::id()));
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/phong.wgsl");
    let output = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .arg("render")
        .arg(sample)
        .args(["--target", target, "--draw", "4608,3", "--depth"])
        .args([
            "--size",
            &format!("{size}x{size}"),
            "--clear",
            "0.07,0.08,0.11,1",
            "-o",
        ])
        .arg(&out)
        .output()
        .expect("gpucc starts");
    assert!(
        output.status.success(),
        "{target}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = std::io::BufReader::new(std::fs::File::open(&out).expect("written"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    reader.next_frame(&mut pixels).expect("a picture");
    let _ = std::fs::remove_file(out);
    pixels
}

#[test]
fn phong_is_one_picture_on_r700_and_in_the_interpreter() {
    let size = 256;
    let (machine, reference) = (render("r700", size), render("interp", size));
    assert_eq!(machine.len(), (size * size * 4) as usize);
    let worst = machine
        .iter()
        .zip(&reference)
        .map(|(a, b)| a.abs_diff(*b))
        .max();
    assert!(worst <= Some(1), "a channel differs by {worst:?}");
    // Something is drawn: the background is dark, the spheres are not.
    let bright = machine.chunks_exact(4).filter(|p| p[0] > 100).count();
    assert!(bright > 5000, "only {bright} bright pixels");
}
