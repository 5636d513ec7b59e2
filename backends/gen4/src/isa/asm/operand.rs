//! Operands and numbers out of text.

use super::super::disasm::{CHANNELS, ip};
use super::super::fields as l;
use super::super::operand::{
    ARCHITECTURE, File, GRF_REGISTERS, IP, MRF_REGISTERS, Operand, Place, Region, Role, Type,
};
use super::text::{Parsed, Text, parse_u32};
use gpucc_isa::Enum;

impl<'a> Text<'a> {
    /// `0x3f800000F`, `-1D`, `1.5F`.
    pub fn immediate(&mut self) -> Parsed<(Type, u32)> {
        let at = self.at;
        let negative = self.eat("-");
        let rest = self.rest();
        let hex = rest.starts_with("0x") || rest.starts_with("0X");
        let body = self.span(|c| c.is_ascii_alphanumeric() || c == '.');
        // A float that is written in hexadecimal has digits among its letters: the longest type is the one.
        let types = ["UD", "UW", "UB", "VF", "D", "W", "B", "F", "V"];
        let fits = |name: &&&str| body.ends_with(**name) && body.len() > name.len();
        let Some(name) = types.iter().find(fits) else {
            return self.wrong_at(at, format!("`{body}` is no number with a type behind it"));
        };
        let ty = Type::named(name).expect("the list holds names of types");
        let digits = &body[..body.len() - name.len()];
        let bad = || format!("`{digits}` is no number of type {}", ty.name());
        let value = match ty {
            Type::F if !hex => match digits.parse::<f32>() {
                Ok(value) => (if negative { -value } else { value }).to_bits(),
                Err(_) => return self.wrong_at(at, bad()),
            },
            _ => match parse_u32(digits) {
                Some(value) if negative && i64::from(value) <= 1 << 31 => value.wrapping_neg(),
                Some(value) if !negative => value,
                _ => return self.wrong_at(at, bad()),
            },
        };
        let value = match ty {
            Type::Uw | Type::W => {
                let word = value as i32;
                let range = if ty == Type::W { -0x8000..0x1_0000 } else { 0..0x1_0000 };
                if !range.contains(&word) {
                    return self.wrong_at(at, bad());
                }
                (value & 0xffff) * 0x1_0001
            }
            _ => value,
        };
        Ok((ty, value))
    }

    /// `-(abs)g3.4<8,8,1>F`, `g[a0.2 16]<1>.xyF`, `ip`.
    pub fn operand(&mut self, role: Role, align16: bool) -> Parsed<Operand> {
        let mut modifier = 0;
        if role == Role::Source {
            if self.eat("-") {
                modifier |= 2;
            }
            if self.eat("(abs)") {
                modifier |= 1;
            }
        }
        let at = self.at;
        let name = self.letters();
        let indirect = self.eat("[");
        let (file, place) = if indirect {
            let file = match name {
                "g" => File::Grf,
                "m" => File::Mrf,
                _ => return self.wrong_at(at, "only g and m can be indirect"),
            };
            (file, self.indirect()?)
        } else {
            self.direct(name, at)?
        };
        // The bare name of the instruction pointer.
        if place == (Place::Direct { register: IP, byte: 0 })
            && file == File::Arf
            && !self.is("<")
            && !self.is(".")
        {
            let like = match (role, align16) {
                (Role::Destination, false) => Region::Stride(1),
                (Role::Destination, true) => Region::Masked { stride: 1, channels: 15 },
                (Role::Source, false) => Region::Rows { vertical: 0, width: 0, horizontal: 0 },
                (Role::Source, true) => Region::Swizzled { vertical: 3, select: 0xe4 },
            };
            return Ok(Operand { modifier, ..ip(like, role) });
        }
        // Sub-registers count elements, whose size stands at the end.
        let sub_at = self.at;
        let element = if self.eat(".") { self.number("a sub-register")? } else { 0 };
        let region = self.region(role, align16)?;
        let at = self.at;
        let name = self.letters();
        let Some(ty) = Type::named(name) else {
            self.at = at;
            return self.expected("a type: UD, D, UW, W, UB, B, F");
        };
        let place = match place {
            Place::Direct { register, .. } => {
                let byte = element.saturating_mul(ty.bytes());
                if byte > 31 {
                    return self
                        .wrong_at(sub_at, format!("a register has {} elements", 32 / ty.bytes()));
                }
                if align16 && byte % 16 != 0 {
                    return self.wrong_at(sub_at, "in align16 an operand begins at byte 0 or 16");
                }
                Place::Direct { register, byte }
            }
            indirect if element == 0 => indirect,
            _ => return self.wrong_at(sub_at, "an indirect operand has no sub-register"),
        };
        Ok(Operand { file, ty, place, region, modifier })
    }

    /// `2 16]` behind `g[`, from `a0` on.
    fn indirect(&mut self) -> Parsed<Place> {
        self.space();
        self.expect("a0")?;
        let index = if self.eat(".") { self.number("a sub-register of a0")? } else { 0 };
        self.space();
        let at = self.at;
        let plus = self.eat("+");
        let offset = if self.is("]") && !plus { 0 } else { self.signed("bytes")? };
        if index > 7 {
            return self.wrong_at(at, "a0 has the sub-registers 0 to 7");
        }
        // The public disassembler prints the 10 bits without their sign.
        let offset = if (512..1024).contains(&offset) { offset - 1024 } else { offset };
        if !(-512..512).contains(&offset) {
            return self.wrong_at(at, "an address is -512 to 511 bytes off");
        }
        self.space();
        self.expect("]")?;
        Ok(Place::Indirect { index, offset: offset as i32 })
    }

    /// A register behind the letters of its name.
    fn direct(&mut self, name: &str, at: usize) -> Parsed<(File, Place)> {
        let number_at = self.at;
        let number = if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            Some(self.number("a register's number")?)
        } else {
            None
        };
        let place = |register| Place::Direct { register, byte: 0 };
        let limited = |limit: u32| number.filter(|number| *number < limit);
        let found = match name {
            "g" | "r" => limited(GRF_REGISTERS).map(|number| (File::Grf, place(number))),
            "m" => limited(MRF_REGISTERS).map(|number| (File::Mrf, place(number))),
            _ => {
                let known = ARCHITECTURE.iter().find(|(_, known, _)| *known == name);
                let Some((code, _, count)) = known else {
                    self.at = at;
                    return self.expected("a register");
                };
                let bare = matches!(name, "null" | "ip");
                let number = if bare { Some(number.unwrap_or(0)) } else { number };
                number
                    .filter(|number| number < count)
                    .map(|number| (File::Arf, place(code << 4 | number)))
            }
        };
        match found {
            Some(found) => Ok(found),
            None => self.wrong_at(number_at, format!("there is no such register {name}")),
        }
    }

    fn code_of(&mut self, set: &Enum, what: &str) -> Parsed<u32> {
        let at = self.at;
        let word = self.word();
        match set.value_of(word) {
            Some(code) => Ok(code),
            None => self.wrong_at(at, format!("`{word}` is no {what}")),
        }
    }

    /// `<8,8,1>`, `<1>`, `<4>.xyzw`.
    fn region(&mut self, role: Role, align16: bool) -> Parsed<Region> {
        self.expect("<")?;
        let region = match (role, align16) {
            (Role::Destination, align16) => {
                let stride = self.code_of(&l::HORZ_E, "horizontal stride")?;
                self.expect(">")?;
                match align16 {
                    false => Region::Stride(stride),
                    true => Region::Masked { stride, channels: self.channels()? },
                }
            }
            (Role::Source, false) => {
                let vertical = self.code_of(&l::VERT_INDIRECT_E, "vertical stride")?;
                self.expect(",")?;
                let width = self.code_of(&l::WIDTH_E, "width")?;
                self.expect(",")?;
                let horizontal = self.code_of(&l::HORZ_E, "horizontal stride")?;
                self.expect(">")?;
                Region::Rows { vertical, width, horizontal }
            }
            (Role::Source, true) => {
                let vertical = self.code_of(&l::VERT_E, "vertical stride")?;
                self.expect(">")?;
                Region::Swizzled { vertical, select: self.swizzle()? }
            }
        };
        Ok(region)
    }

    fn channel_names(&mut self) -> &'a str {
        self.span(|c| c.is_ascii_lowercase())
    }

    /// `.xyw` of a destination.
    fn channels(&mut self) -> Parsed<u32> {
        let at = self.at;
        if !self.eat(".") {
            return Ok(15);
        }
        let names = self.channel_names();
        if names == "none" {
            return Ok(0);
        }
        let mut channels = 0;
        for name in names.chars() {
            match CHANNELS.iter().position(|known| *known == name) {
                // In order, each once.
                Some(channel) if channels >> channel == 0 => channels |= 1 << channel,
                _ => return self.wrong_at(at, format!("`.{names}` is no set of channels")),
            }
        }
        if channels == 0 {
            return self.wrong_at(at, "expected channels");
        }
        Ok(channels)
    }

    /// `.xyzw` of a source: one letter stands for four.
    fn swizzle(&mut self) -> Parsed<u32> {
        let at = self.at;
        if !self.eat(".") {
            return Ok(0xe4);
        }
        let names = self.channel_names();
        let mut select = 0;
        let count = names.len();
        for (place, name) in names.chars().enumerate() {
            match CHANNELS.iter().position(|known| *known == name) {
                Some(channel) if place < 4 => select |= (channel as u32) << (2 * place),
                _ => return self.wrong_at(at, format!("`.{names}` is no swizzle")),
            }
        }
        match count {
            1 => Ok(select * 0x55),
            4 => Ok(select),
            _ => self.wrong_at(at, format!("`.{names}` is no swizzle: 1 or 4 channels")),
        }
    }
}
