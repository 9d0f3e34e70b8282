//! JSON as far as messages need it: Rust's own library has none.
use std::ops::Index;

#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

#[allow(dead_code)]
impl Json {
    /// Panics where the text is no JSON; the referee's always is.
    pub fn parse(text: &str) -> Json {
        Reader { rest: text }.value()
    }

    /// -1 for null.
    pub fn int(&self) -> i64 {
        if let Json::Number(number) = self { *number as i64 } else { -1 }
    }

    /// Empty for null.
    pub fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }

    /// Empty for null.
    pub fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }

    /// False for null.
    pub fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }
}

/// `view["seat"]`; null where there is no such key.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        match self {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn next_is(&mut self, token: &str) -> bool {
        let found = self.rest.starts_with(token);
        if found {
            self.rest = &self.rest[token.len()..];
        }
        found
    }

    fn value(&mut self) -> Json {
        if self.next_is("null") {
            Json::Null
        } else if self.next_is("true") {
            Json::Bool(true)
        } else if self.next_is("false") {
            Json::Bool(false)
        } else if self.next_is("\"") {
            Json::Text(self.text())
        } else if self.next_is("[") {
            let mut list = Vec::new();
            while !self.next_is("]") {
                list.push(self.value());
                self.next_is(",");
            }
            Json::List(list)
        } else if self.next_is("{") {
            let mut entries = Vec::new();
            while !self.next_is("}") {
                assert!(self.next_is("\""));
                let key = self.text();
                assert!(self.next_is(":"));
                entries.push((key, self.value()));
                self.next_is(",");
            }
            Json::Object(entries)
        } else {
            let end = self.rest.find(|each: char| !"+-.0123456789eE".contains(each)).unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            Json::Number(number.parse().unwrap())
        }
    }

    /// Up to the closing quote.
    fn text(&mut self) -> String {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next().unwrap() {
                '"' => break,
                '\\' => match characters.next().unwrap() {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'u' => {
                        let code: String = characters.by_ref().take(4).collect();
                        text.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap_or('?'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.rest = characters.as_str();
        text
    }
}
