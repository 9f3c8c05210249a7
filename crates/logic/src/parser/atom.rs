//! Atoms that are words: `call(f)`, `at(f, L)`, `deadlock` and their like.

use super::{Parse, Parser};
use crate::expr::level;
use crate::lexer::{Lexer, Mode, Tok, Token, is_word_part, is_word_start};
use crate::{AtomKind, Ltl, Name, ThreadRef};

impl<'a> Parser<'a> {
    /// The atom or constant that starts with the word at hand; `None` where the word is a name. Words
    /// that need parentheses are names without them, and all of them are names before `::`.
    #[inline(never)]
    pub(super) fn word_atom(&mut self) -> Parse<Option<Ltl>> {
        let word = self.text();
        let start = self.token.start;
        let after = self.lexer.clone().next(Mode::Formula).tok;
        if after == Tok::LParen {
            let kind = match word {
                "call" => self.call()?,
                "at" => self.at()?,
                "terminated" => self.terminated()?,
                "holds" => {
                    let (thread, object) = self.thread_and_object()?;
                    AtomKind::Holds { thread, object }
                }
                "waiting" => {
                    let (thread, object) = self.thread_and_object()?;
                    AtomKind::Waiting { thread, object }
                }
                "AP" => return self.wrapped().map(Some),
                _ => return Ok(None),
            };
            return self.atom(kind, self.span_from(start)).map(Some);
        }
        if after == Tok::ColonColon || super::arithmetic(after).is_some() {
            return Ok(None);
        }
        let kind = match word {
            "end" => AtomKind::End,
            "deadlock" => AtomKind::Deadlock,
            "overflow" => AtomKind::Overflow,
            "data-race" => AtomKind::DataRace,
            "valid-free" => AtomKind::ValidFree,
            "valid-deref" => AtomKind::ValidDeref,
            "valid-memtrack" => AtomKind::ValidMemtrack,
            "valid-memcleanup" => AtomKind::ValidMemcleanup,
            _ => return Ok(None),
        };
        self.bump();
        self.atom(kind, self.span_from(start)).map(Some)
    }

    /// `call(f)` or `call(f())`
    fn call(&mut self) -> Parse<AtomKind> {
        self.bump();
        let open = self.bump();
        let function = self.name("the name of a function")?;
        if self.token.tok == Tok::LParen {
            self.bump();
            if self.token.tok != Tok::RParen {
                return Err(self.wanted("`)`").help("name the function without arguments: `call(f)`").into());
            }
            self.bump();
        }
        self.close(open, Tok::RParen)?;
        Ok(AtomKind::Call { function })
    }

    fn terminated(&mut self) -> Parse<AtomKind> {
        self.bump();
        let open = self.bump();
        let thread = self.thread()?;
        self.close(open, Tok::RParen)?;
        Ok(AtomKind::Terminated(thread))
    }

    /// `(thread, object)`; the object is C.
    fn thread_and_object(&mut self) -> Parse<(ThreadRef, crate::ExprSyntax)> {
        self.bump();
        let open = self.bump();
        let thread = self.thread()?;
        if self.token.tok != Tok::Comma {
            return Err(self
                .wanted("a comma and the object")
                .help("write `holds(func, m)` or `waiting(func, c)`")
                .into());
        }
        self.mode = Mode::C;
        self.bump();
        let (object, _) = self.c_expr(level::CONDITIONAL)?;
        self.mode = Mode::Formula;
        self.close(open, Tok::RParen)?;
        Ok((thread, object))
    }

    /// `AP( … )`, which wraps a C expression in the formulas of Ultimate and DIVINE.
    fn wrapped(&mut self) -> Parse<Ltl> {
        let start = self.bump().start;
        let open = self.token;
        self.mode = Mode::C;
        self.bump();
        if self.token.tok == Tok::RParen {
            return Err(self.nothing_in_parentheses(open).into());
        }
        let (expr, _) = self.c_expr(level::CONDITIONAL)?;
        self.mode = Mode::Formula;
        self.close(open, Tok::RParen)?;
        self.expr_to_ltl(expr, self.span_from(start))
    }

    /// `func` or `func[k]`
    fn thread(&mut self) -> Parse<ThreadRef> {
        let function = self.name("the function that the thread runs")?;
        if self.token.tok != Tok::LBracket {
            return Ok(ThreadRef { function, index: None });
        }
        let open = self.bump();
        let index = match self.token.tok {
            Tok::Int(value, _) => u32::try_from(value).ok(),
            _ => None,
        };
        let Some(index) = index else {
            return Err(self.wanted("the number of the thread, counted from 0 in order of creation").into());
        };
        self.bump();
        self.close(open, Tok::RBracket)?;
        Ok(ThreadRef { function, index: Some(index) })
    }

    /// `at(func, LABEL)`, `at(file:line)`, `at("file":line)` or `at(line)`. File names do not follow the
    /// rules of tokens, so the characters are read here.
    fn at(&mut self) -> Parse<AtomKind> {
        self.bump();
        let open = self.token;
        let mut lexer = self.lexer;
        lexer.at = open.end;
        skip_space(&mut lexer);
        let start = lexer.at;
        let rest = lexer.rest();
        let (file, file_end) = if let Some(inner) = rest.strip_prefix('"') {
            let Some(len) = inner.find('"') else {
                let quote = Token { tok: Tok::Quote, start, end: start + 1 };
                return Err(self.unclosed(quote).into());
            };
            (&inner[..len], start + len + 2)
        } else {
            let len = rest.find([')', ',', '\n']).unwrap_or(rest.len());
            let inner = rest[..len].trim_end();
            match inner.rfind(':') {
                Some(colon) => (inner[..colon].trim_end(), start + colon),
                None if inner.starts_with(|c: char| c.is_ascii_digit()) => ("", start),
                None => return self.at_label(),
            }
        };
        lexer.at = file_end;
        skip_space(&mut lexer);
        if lexer.rest().starts_with(':') {
            lexer.at += 1;
            skip_space(&mut lexer);
        }
        self.lexer = lexer;
        self.last_end = lexer.at;
        self.token = self.lexer.next(Mode::Formula);
        let line = match self.token.tok {
            Tok::Int(value, _) => u32::try_from(value).ok().filter(|&line| line > 0),
            _ => None,
        };
        let Some(line) = line else {
            return Err(self
                .wanted("the number of a line")
                .help("write `at(file.c:12)` or `at(func, LABEL)`")
                .into());
        };
        self.bump();
        self.close(open, Tok::RParen)?;
        Ok(AtomKind::AtLine { file: (!file.is_empty()).then(|| file.to_owned()), line })
    }

    /// `(func, LABEL)`
    fn at_label(&mut self) -> Parse<AtomKind> {
        let open = self.bump();
        let function = self.name("the name of a function, or a file and a line")?;
        if self.token.tok != Tok::Comma {
            let help = "write `at(func, LABEL)`, `at(file.c:12)` or `at(12)`";
            return Err(self.wanted("a comma and a label").help(help).into());
        }
        self.bump();
        let label: Name = self.name("the name of a label")?;
        self.close(open, Tok::RParen)?;
        Ok(AtomKind::AtLabel { function, label })
    }
}

fn skip_space(lexer: &mut Lexer<'_>) {
    let rest = lexer.rest();
    lexer.at += rest.len() - rest.trim_start().len();
}

/// Whether the text is one identifier.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(is_word_start) && text.chars().all(is_word_part)
}
