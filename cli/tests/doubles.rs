//! Double precision on the chips that have it: each operation alone, proved bit for bit, and beside the exact value.

use crate::common::{Folder, gpucc, text};

/// What an operation takes and gives.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Shape {
    One,
    Two,
    Three,
    /// Gives a truth value, which chooses between two words.
    Test,
    FromWord,
    ToWord,
    /// A double and a word.
    Scaled,
}

use Shape::{FromWord, One, Scaled, Test, Three, ToWord, Two};

const OPERATIONS: &[(&str, Shape)] = &[
    ("fadd", Two),
    ("fsub", Two),
    ("fmul", Two),
    ("fdiv", Two),
    ("frem", Two),
    ("fmin", Two),
    ("fmax", Two),
    ("fma", Three),
    ("fneg", One),
    ("fabs", One),
    ("fsign", One),
    ("fsat", One),
    ("ffloor", One),
    ("fceil", One),
    ("ftrunc", One),
    ("fround", One),
    ("ffract", One),
    ("fsqrt", One),
    ("frsq", One),
    ("frcp", One),
    ("frexp_fract", One),
    ("s2f", One),
    ("u2f", One),
    ("f2s", One),
    ("f2u", One),
    ("feq", Test),
    ("fne", Test),
    ("flt", Test),
    ("fle", Test),
    ("fconvert", FromWord),
    ("s2f", FromWord),
    ("u2f", FromWord),
    ("fconvert", ToWord),
    ("f2s", ToWord),
    ("f2u", ToWord),
    ("frexp_exp", ToWord),
    ("fldexp", Scaled),
];

/// A program that reads two doubles (or a double and a word) and writes what an operation makes of them.
fn program(op: &str, shape: Shape) -> String {
    let computed = match shape {
        One => format!("  %30: b64 = {op} %20\n"),
        Two => format!("  %30: b64 = {op} %20, %21\n"),
        Three => format!("  %29: b64 = fneg %20\n  %30: b64 = {op} %20, %21, %29\n"),
        Test => format!("  %28: b1 = {op} %20, %21\n  %40: b32 = select %28, %2, %1\n"),
        FromWord => format!("  %30: b64 = {op} %11\n"),
        ToWord => format!("  %40: b32 = {op} %20\n"),
        Scaled => format!("  %30: b64 = {op} %20, %13\n"),
    };
    let halves = match shape {
        Test | ToWord => "  %41: b32 = const 0x0\n",
        _ => "  %40: b32 = lo64 %30\n  %41: b32 = hi64 %30\n",
    };
    format!(
        "func \"main\" compute workgroup 64 1 1 {{
  res0 = \"a\" group 0 binding 0 storage 0 stride 16 load as u32
  res1 = \"o\" group 0 binding 1 storage 0 stride 8 load store as u32
  in0 = \"g\" u32 x 3 builtin global_invocation_id
}} body {{
  %0: b32 = const 0x4
  %1: b32 = const 0x0
  %2: b32 = const 0x1
  %3: b32 = input in0.0
  %5: b32 = const 0x3
  %50: b32 = buffer_size res0
  %51: b32 = lshr %50, %0
  %52: b32 = index %3, %51
  %53: b32 = buffer_size res1
  %54: b32 = lshr %53, %5
  %55: b32 = index %3, %54
  %10: b32 = shl %52, %0
  %4: b32 = shl %55, %5
  %11: b32, %12: b32, %13: b32, %14: b32 = buffer_load res0, %10
  %20: b64 = join64 %11, %12
  %21: b64 = join64 %13, %14
{computed}{halves}  buffer_store res1, %4, %40, %41
  yield
}}
"
    )
}

/// Pairs of numbers, each number first and second: 64 of them.
fn numbers() -> Vec<[f64; 2]> {
    let list = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        3.0,
        -7.5,
        0.1,
        -0.3,
        1e-30,
        -2.5e40,
        6.02e23,
        4_503_599_627_370_497.0,
        2_147_483_647.5,
        -2_147_483_648.5,
        1.797e308,
        f64::INFINITY,
    ];
    (0..64).map(|n| [list[n % 16], list[(n * 5 + n / 16 * 3 + 2) % 16]]).collect()
}

/// What a machine leaves in the 64 results.
fn run(file: &str, machine: &str, input: &str) -> Vec<u64> {
    let output = gpucc(&[
        "run",
        file,
        "--target",
        machine,
        "--groups",
        "1",
        "--set",
        input,
        "--set",
        "0.1=zeros:512",
        "--dump",
        "0.1:hex",
    ]);
    assert!(output.status.success(), "{}", text(&output));
    let printed = String::from_utf8(output.stdout).expect("text");
    let hex: Vec<u8> =
        printed.trim_start_matches("0.1:").bytes().filter(u8::is_ascii_hexdigit).collect();
    hex.chunks_exact(16)
        .map(|word| {
            let text = std::str::from_utf8(word).expect("digits");
            u64::from_str_radix(text, 16).expect("digits").swap_bytes()
        })
        .collect()
}

/// Units in the last place between two doubles; denormals count as zero.
fn distance(a: u64, b: u64) -> u64 {
    let flushed = |bits: u64| if bits >> 52 & 0x7ff == 0 { 0 } else { bits };
    if f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan() {
        return 0;
    }
    flushed(a).abs_diff(flushed(b))
}

#[test]
fn operations_on_doubles_run_as_proved_and_give_the_exact_value_but_for_a_unit() {
    let folder = Folder::new("doubles");
    let words: Vec<String> = numbers()
        .iter()
        .flatten()
        .flat_map(|number| number.to_le_bytes())
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let input = format!("0.0=hex:{}", words.concat());
    for &(op, shape) in OPERATIONS {
        let name = format!("{op}{}.ir", shape as u8);
        let file = folder.write(&name, program(op, shape));
        for effort in ["-O0", "-O2"] {
            let proof = gpucc(&["verify", &file, "--target", "r700", "--inputs", "12", effort]);
            assert!(proof.status.success(), "{name} {effort}: {}", text(&proof));
        }
        // Remainders of huge quotients have no digits left, and a product and a sum are rounded twice.
        if ["frem", "fma"].contains(&op) {
            continue;
        }
        let results = run(&file, "r700", &input);
        let exact = run(&file, "interp", &input);
        assert_eq!(results.len(), 64);
        for (number, (&got, &wanted)) in results.iter().zip(&exact).enumerate() {
            let off = if matches!(shape, Test | ToWord) {
                u64::from(got != wanted) * 2
            } else {
                distance(got, wanted)
            };
            let [a, b] = numbers()[number];
            // A word that is a denormal f32 is flushed on its way.
            let flushed = shape == FromWord && op == "fconvert" && {
                f32::from_bits(a.to_bits() as u32).is_subnormal()
            };
            assert!(off <= 1 || flushed, "{op} of {a} and {b}: {got:016x}, exactly {wanted:016x}");
        }
    }
}

#[test]
fn chips_without_doubles_refuse_them_by_the_manual() {
    let folder = Folder::new("no-doubles");
    let file = folder.write("sum.ir", program("fadd", Two));
    for (target, chip, code) in [
        ("r700", "rv770", 0),
        ("r700", "rv790", 0),
        ("r700", "rv740", 3),
        ("r700", "rv710", 3),
        ("r600", "rv670", 3),
    ] {
        let output = gpucc(&[&file, "--target", target, "--chip", chip]);
        assert_eq!(output.status.code(), Some(code), "{chip}: {}", text(&output));
        if code == 3 {
            assert!(text(&output).contains("double precision on this chip"));
        }
    }
}
