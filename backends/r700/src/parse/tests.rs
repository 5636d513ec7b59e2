use super::*;
use gpucc_ir::mach::{Func, ParseError};

fn parse(text: &str) -> std::result::Result<Func<Inst>, ParseError> {
    mach::parse(text, FILES)
}

/// Every form that `text` writes, with every option.
const EVERY: &str = r#"mach "a \"name\"; with a comment"
v0-v9: R
v10: R count 8 stride 4
v11-v12: R phases 0b1 prefer 2
b0: -> b1
    entry v0=R0.x v1=R0.y
    v2 = MULADD_IEEE v0, -v1, C15[4095].w *2 clamp
    v2 = ADD -|v0|, 0x3f800000 *4
    v2 = MUL_IEEE |C0[0].x|, v1 /2
    v3 = DOT4_IEEE v0*v1 -v0*v1 |v0|*0x0 v0*-|v1| clamp
    v3 = DOT4_IEEE v0*v1 v0*v1 v0*v1 v0*v1
    v4 v5 v6 v7 = CUBE v0 v1 v2
    v4 v5 = ADD_64 v0:v1 -v2:v3
    v4 _ = PRED_SETE_64 v0:v1 v2:0x0
    KILLGT v0, v1
    copy v4=v5 v5=v4
    v10 = array
    v1 = v10[v0 + 3 of 8]
    v10 = v10[0x2 + 0 of 8] with -|v1|
    v0 v1 _ v2@7 = VFETCH v3 from 160 + 16 format 35 num 2 bytes 64 type 1 signed
    v0@3 v1@3 v2@3 _@2 = SAMPLE_G v3 0 1 _ from 255 sampler 17 texels zw offset -8 0 7 gradient v1 0 0 _ gradient v2 0 0 _
    v0 _ _ _ = SAMPLE v3 v4 0 0 from 0 sampler 0
    v0@2 _ _ _ = read scratch 12 + v1 of 4 elements 4
    v0 v1 v2 _ = read scatter 0 + v1 elements 4
    v0@1 _ _ _ = read scratch 8191 elements 4 slot 7
    write v0 _ v1 _ to scatter 0 + v2 elements 1 valid
    write _ v0 _ _ to scratch 3 of 4095 elements 4 slot 9
    write v0 v1 v2 v3 to stream3 0 + v4 elements 4
    share write 4 of 16 v0 0 1 _
    v0 _ v1 _ = share read v2 v3 + 63
    wait
    export Pixel 7 v0 0 1 _ done
    export Position 60 v0 v1 v2 v3
    export Parameter 31 _ _ _ _
    if PRED_SETGT_UINT 0x2, v0
b1: logical b2, physical b1 b2
    else
    endif
    loop
b2:
    endloop
b3:
    break
b4:
    end
"#;

#[test]
fn every_form_prints_as_it_was_read() {
    let func = parse(EVERY).expect("machine IR");
    assert_eq!(mach::print(&func), EVERY);
    assert_eq!(mach::reads_back(&func), Ok(()));
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_number() {
    let cases = [
        ("v0 = NOTHING v1", "`NOTHING` is no instruction"),
        ("v0 = ADD v1", "2 sources with commas between"),
        ("v0 = ADD v1, v2, v3", "2 sources with commas between"),
        ("v0 = ADD v1 v2", "2 sources with commas between"),
        ("v0 = ADD v1, v20", "v20 is not declared"),
        ("v0 = ADD v1, 0x100000000", "is no source"),
        ("v0 = ADD v1, C16[0].x", "no number from 0 to 15"),
        ("v0 = ADD v1, v2 twice", "`twice` stands behind the end"),
        ("v0 v1 v2 = ADD v1, v2", "one, two or four registers"),
        ("v0 v1 = ADD v1:v1 v2:v2", "no operation on doubles"),
        ("v0 = v1[v2 + 0 of 0]", "no number from 1 to 119"),
        ("_ _ _ _ = SAMPLE 0 0 0 0 from 256 sampler 0", "from 0 to 255"),
        ("_ _ _ _ = VFETCH v0 from 0 + 0 format 1 num 0 bytes 0 type 0", "from 1 to 64"),
        ("v0 _ _ _ = read stream0 0 elements 4", "streams are written only"),
        ("v0 _ _ _ = read scratch 0", "too soon"),
        ("write v0 _ _ _ to disk 0 elements 4", "`disk` is no memory"),
        ("export Colour 0 0 0 0 0", "nothing that is exported"),
        ("entry v0=v1", "names no cell"),
        ("copy v0", "is no `a=b`"),
    ];
    for (line, expected) in cases {
        let text = format!("mach \"m\"\nv0-v9: R\nb0:\n    {line}\n");
        let error = parse(&text).expect_err(line);
        assert_eq!(error.line, 4, "{line}");
        assert!(error.message.contains(expected), "{line}: {error}");
    }
}

/// Words of lines are left out, doubled, exchanged and replaced.
#[test]
fn text_that_is_broken_is_refused_or_is_another_program() {
    let words: Vec<&str> = EVERY.split_whitespace().collect();
    let (mut read, mut refused) = (0, 0);
    for (number, line) in EVERY.lines().enumerate() {
        let parts: Vec<&str> = line.split(' ').collect();
        for at in 0..parts.len() {
            let other = words[(number * 31 + at * 7) % words.len()];
            let cut = parts[at].char_indices().nth(1).map_or("", |(end, _)| &parts[at][end..]);
            for new in [&[][..], &[parts[at], parts[at]], &[other], &[cut], &["99999999999"]] {
                let mutant = [&parts[..at], new, &parts[at + 1..]].concat().join(" ");
                let mut lines: Vec<&str> = EVERY.lines().collect();
                lines[number] = &mutant;
                match parse(&lines.join("\n")) {
                    Ok(func) => {
                        read += 1;
                        assert_eq!(mach::reads_back(&func), Ok(()), "{mutant}");
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(read > 100 && refused > 500, "{read} read, {refused} refused");
}
