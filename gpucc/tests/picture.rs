//! Pictures of the samples: the same on the emulated machines and in the interpreter.

use std::path::Path;
use std::process::Command;

/// Renders a sample as its first lines say; gives RGBA bytes.
fn render(sample: &str, target: &str, size: u32, args: &[&str]) -> Vec<u8> {
    let name = format!("gpucc-{sample}-{target}-{}.png", std::process::id());
    let out = std::env::temp_dir().join(name);
    let path = format!("../samples/{sample}.wgsl");
    let output = Command::new(env!("CARGO_BIN_EXE_gpucc"))
        .arg("render")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .args(["--target", target, "--size", &format!("{size}x{size}")])
        .args(args)
        .arg("-o")
        .arg(&out)
        .output()
        .expect("gpucc starts");
    assert!(
        output.status.success(),
        "{sample} on {target}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = std::io::BufReader::new(std::fs::File::open(&out).expect("written"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    reader.next_frame(&mut pixels).expect("a picture");
    let _ = std::fs::remove_file(out);
    assert_eq!(pixels.len(), (size * size * 4) as usize);
    pixels
}

/// Channels that differ by more than one step of 255.
fn apart(machine: &[u8], reference: &[u8]) -> usize {
    let pairs = machine.iter().zip(reference);
    pairs.filter(|(a, b)| a.abs_diff(**b) > 1).count()
}

const PHONG: &[&str] = &["--draw", "4608,3", "--depth", "--clear", "0.07,0.08,0.11,1"];

#[test]
fn phong_is_one_picture_on_every_machine_and_in_the_interpreter() {
    let reference = render("phong", "interp", 256, PHONG);
    for target in ["r700", "valhall"] {
        let machine = render("phong", target, 256, PHONG);
        assert_eq!(apart(&machine, &reference), 0, "on {target}");
    }
    // Something is drawn: the background is dark, the spheres are not.
    let bright = reference.chunks_exact(4).filter(|p| p[0] > 100).count();
    assert!(bright > 5000, "only {bright} bright pixels");
}

#[test]
fn samples_are_one_picture_on_every_machine_and_in_the_interpreter() {
    let samples = [
        ("triangle", 128),
        ("badge", 64),
        ("noise", 64),
        ("raymarch", 64),
        ("mandelbrot", 192),
    ];
    for (sample, size) in samples {
        let args = &["--draw", "3"];
        let reference = render(sample, "interp", size, args);
        for target in ["r700", "valhall"] {
            let machine = render(sample, target, size, args);
            assert_eq!(apart(&machine, &reference), 0, "{sample} on {target}");
        }
        assert!(reference.chunks_exact(4).any(|p| p[..3] != reference[..3]));
    }
}
