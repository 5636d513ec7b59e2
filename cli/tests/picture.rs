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

/// A point in each of nine places.
const PLACES: &str = "#version 450
layout(location = 0) out vec4 color;
void main() {
  vec2 place = vec2(gl_VertexIndex % 3, gl_VertexIndex / 3) * 0.6 - 0.6;
  gl_Position = vec4(place, 0.0, 1.0);
  color = vec4(place * 0.5 + 0.5, 0.25, 1.0);
}
";
/// A square round each point, lighter to the right.
const SQUARES: &str = "#version 450
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec4 color[];
layout(location = 0) out vec4 shade;
void main() {
  for (int i = 0; i < 4; i++) {
    vec2 corner = vec2(i & 1, i >> 1) - 0.5;
    gl_Position = gl_in[0].gl_Position + vec4(corner * 0.4, 0.0, 0.0);
    shade = color[0] * (0.75 + 0.5 * corner.x);
    EmitVertex();
  }
}
";
const SHADED: &str = "#version 450
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 color;
void main() { color = vec4(shade.rgb, 1.0); }
";

#[test]
fn a_geometry_entry_point_draws_between_the_two() {
    let folder = Folder::new("squares");
    // A module of three entry points: the texts of their IR, one behind the other.
    let module: String = [("vert", PLACES), ("geom", SQUARES), ("frag", SHADED)]
        .map(|(stage, source)| {
            let (file, out) = (folder.write(&format!("a.{stage}"), source), folder.path(stage));
            let emit = format!("ir={out}");
            let made =
                gpucc(&[&file, "--target", "interp", "-O0", "--robust", "off", "--emit", &emit]);
            assert!(made.status.success(), "{}", text(&made));
            std::fs::read_to_string(&out).expect("it was written")
        })
        .concat();
    let file = folder.write("squares.ir", &module);
    let out = folder.path("out.png");
    let draw = |target: &str, more: &[&str]| {
        let own =
            ["render", &file, "--target", target, "--size", "64x64", "--draw", "9", "-o", &out];
        gpucc(&[&own, more].concat())
    };
    let squares = ["--gs", "main", "--topology", "point-list"];
    let of = |target: &str| {
        let drawn = draw(target, &squares);
        assert!(drawn.status.success(), "{target}: {}", text(&drawn));
        pixels(&out)
    };
    let reference = of("interp");
    let lit = reference.chunks_exact(4).filter(|pixel| pixel[2] > 32).count();
    // Nine squares, each a fifth of the picture wide.
    assert!((1350..1550).contains(&lit), "{lit} pixels");
    for target in ["gen4", "g45"] {
        assert_eq!(apart(&of(target), &reference), 0, "on {target}");
    }
    let refused = draw("valhall", &squares);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    let lists = draw("interp", &["--gs", "main", "--topology", "line-list"]);
    assert_eq!(lists.status.code(), Some(1), "{}", text(&lists));
    assert!(text(&lists).contains("takes points"), "{}", text(&lists));
    let absent = draw("interp", &["--gs", "squares"]);
    assert_eq!(absent.status.code(), Some(2), "{}", text(&absent));
}
