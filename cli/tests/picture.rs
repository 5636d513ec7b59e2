//! Pictures of the samples: the same on the emulated machines and in the interpreter.

use crate::common::{Folder, gpucc, pixels, sample, text};

/// Renders a sample as its first lines say; gives RGBA bytes.
fn render(name: &str, target: &str, size: u32, args: &[&str]) -> Vec<u8> {
    let folder = Folder::new(&format!("{name}-{target}"));
    let (shader, out) = (sample(&format!("{name}.wgsl")), folder.path("out.png"));
    let size_flag = format!("{size}x{size}");
    let own = ["render", &shader, "--target", target, "--size", &size_flag, "-o", &out];
    let output = gpucc(&[&own, args].concat());
    assert!(output.status.success(), "{name} on {target}: {}", text(&output));
    let pixels = pixels(&out);
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
    for target in ["r700", "valhall", "rogue"] {
        let machine = render("phong", target, 256, PHONG);
        assert_eq!(apart(&machine, &reference), 0, "on {target}");
    }
    // These draw by themselves, with clipping and setup by programs: smaller, for the time that it takes.
    let small = render("phong", "interp", 96, PHONG);
    for target in ["gen4", "g45"] {
        let machine = render("phong", target, 96, PHONG);
        assert_eq!(apart(&machine, &small), 0, "on {target}");
    }
    // Something is drawn: the background is dark, the spheres are not.
    let bright = reference.chunks_exact(4).filter(|p| p[0] > 100).count();
    assert!(bright > 5000, "only {bright} bright pixels");
}

#[test]
fn samples_are_one_picture_on_every_machine_and_in_the_interpreter() {
    let samples =
        [("triangle", 128), ("badge", 64), ("noise", 64), ("raymarch", 64), ("mandelbrot", 192)];
    for (sample, size) in samples {
        let args = &["--draw", "3"];
        let reference = render(sample, "interp", size, args);
        for target in ["r700", "valhall", "rogue"] {
            let machine = render(sample, target, size, args);
            assert_eq!(apart(&machine, &reference), 0, "{sample} on {target}");
        }
        // Planes are evaluated toward zero: a point at the edge of the set of Mandelbrot may leave a step later.
        let most = if sample == "mandelbrot" { 3 } else { 0 };
        for target in ["gen4", "g45"] {
            let machine = render(sample, target, size.min(96), args);
            let reference = render(sample, "interp", size.min(96), args);
            assert!(apart(&machine, &reference) <= most, "{sample} on {target}");
        }
        assert!(reference.chunks_exact(4).any(|p| p[..3] != reference[..3]));
    }
}
