/**
 * The tokenizer against bash itself: every case is a command line of its own, and what bash passes is compared byte for
 * byte. Globs that match nothing vanish (`nullglob`), so that a word that bash takes for a pattern shows.
 */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as CommandLine from "../../src/bash/CommandLine.js"
import type { Word } from "../../src/bash/Token.js"

let directory = ""
beforeAll(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-tokens-"))
})
afterAll(() => fs.rmSync(directory, { recursive: true }))

/** After each case; no case can hold it by chance. */
const mark = "\u0001end of case\u0001"

const script = `show() { printf '%s\\0' "$@"; IFS= read -r -d '' REPLY; printf '%s' "$REPLY"; }
shopt -s nullglob
mark=$1
set --
mapfile -d '' cases
for case in "\${cases[@]}"; do
  eval "$case" </dev/null 2>/dev/null
  printf '%s' "$mark"
  : so that "$_" is not the mark
done`

/** What each of these command lines puts out. */
const bash = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const output = execFileSync("/bin/bash", ["--norc", "--noprofile", "-c", script, "bash", mark], {
    input: lines.map((line) => `${line}\0`).join(""),
    cwd: directory,
    env: { PATH: directory, HOME: "/home/nobody", LC_ALL: "C.UTF-8" },
    maxBuffer: 1 << 26
  })
  return output.toString("latin1").split(mark).slice(0, -1)
}

const bytes = (text: string): string => Buffer.from(text).toString("latin1")

const parse = (text: string) => CommandLine.parse(`p ${text}`)
const words = (text: string): ReadonlyArray<Word> => parse(text).words
const isLiteral = (text: string): boolean => parse(text).literal
const ours = (text: string): string =>
  [".", ...words(text).map(({ value }) => value)].map((value) => `${bytes(value)}\0`).join("")

const sample = <A>(arbitrary: FastCheck.Arbitrary<A>, numRuns = 1500): ReadonlyArray<A> =>
  FastCheck.sample(arbitrary, { numRuns, seed: SEED })
const SEED = Number(process.env["SEED"] ?? 1)

const character = FastCheck.string({
  unit: FastCheck.constantFrom(...'ab1 $`"\\;&|<>(){}[]*?#~!=:.,-+^%@/\t\n\r\u0001\u007f\u00a0é🙂'),
  maxLength: 6
})
const escape = FastCheck.oneof(
  FastCheck.constantFrom(..."abeEfnrtv\\'\"?zé").map((each) => `\\${each}`),
  FastCheck.constantFrom(
    "\\x41",
    "\\x4",
    "\\x",
    "\\xg",
    "\\x{41}",
    "\\x{",
    "\\x{4z",
    "\\x{1f642",
    "\\xc3\\xa9",
    "\\xff"
  ),
  FastCheck.constantFrom("\\101", "\\7", "\\08", "\\777", "\\0", "\\400", "\\x00", "\\u0000", "\\x{}"),
  FastCheck.constantFrom("\\u41", "\\u", "\\u00e9", "\\ud800", "\\ufeff", "\\U0001F642", "\\U41", "\\U110000", "\\U"),
  FastCheck.constantFrom("\\cA", "\\ca", "\\c?", "\\c@", "\\c\\\\", "\\c[", "\\c1", "\\cé", "\\c", "\\\n"),
  FastCheck.constantFrom("a", " ", "\n", "$x", "`", '"', "é", "{", "}", "0", "4")
)
const plain = FastCheck.string({
  unit: FastCheck.constantFrom(..."abXY019_-./:,@%+=é🙂^!#~[]{}$\r\u00a0"),
  maxLength: 4
})
const quoted = FastCheck.oneof(
  character.map((text) => `'${text}'`),
  character.map((text) => `"${text.replace(/["\\$`]/g, "\\$&")}"`),
  FastCheck.constantFrom(
    '"a\\zb"',
    '"\\a\\\\n"',
    '"a\\\nb"',
    '"$"',
    '"a$ b"',
    '"$.$/"',
    '"\\!"',
    "\"$'a'\"",
    "''",
    '""'
  ),
  FastCheck.constantFrom(
    '"\\\u007f"',
    '"\\\u0001"',
    "\\\u007f",
    "\\\u0001",
    "\u007f",
    "\u0001",
    "$'\u007f\\n'",
    "$'\\001\\177'"
  ),
  FastCheck.constantFrom(..." ;&|<>()'\"$*?[]{}~#!\\`é\t=,.").map((each) => `\\${each}`),
  FastCheck.array(escape, { maxLength: 5 })
    .map((parts) => parts.join(""))
    // A quote behind `\c` ends the word, and then it opens another.
    .filter((text) => !/\\c$/.test(text) && !/\\c'/.test(text))
    .map((text) => `$'${text}'`),
  character.map((text) => `$"${text.replace(/["\\$`]/g, "\\$&")}"`),
  FastCheck.constant("\\\n")
)
const literal = FastCheck.array(FastCheck.oneof({ weight: 1, arbitrary: plain }, { weight: 2, arbitrary: quoted }), {
  minLength: 1,
  maxLength: 6
})
  .map((parts) => parts.join(""))
  .filter((text) => words(text).every(({ closed }) => closed))
const line = FastCheck.array(FastCheck.tuple(literal, FastCheck.constantFrom(" ", "\t", "  ", " \\\n", "\\\n ")), {
  maxLength: 4
}).map((parts) => parts.flat().join(""))

/** What bash replaces, or what depends on its locale. */
const expanding = FastCheck.constantFrom(
  ...[
    "$x",
    "${x}",
    "$(echo a)",
    "$((1+1))",
    "$[1+1]",
    "`echo a`",
    "{a,b}",
    "{1..3}",
    "*",
    "?",
    "[ab]",
    "$1",
    "$$",
    "$?"
  ],
  ...[
    '"$x"',
    '"${x}b"',
    '"$(echo a)"',
    '"`echo a`"',
    '"$[1+1]"',
    '"$#"',
    "$\\\nx",
    '"$\\\nx"',
    "{1.\\\n.3}",
    "$\\\n{x}"
  ],
  ...["<(echo)", "{a,\\\nb}", '{"a",b}', "$[ 1 + 1 ]", "$'\\xff'", "$'\\u00e9'", "$'\\ud800'", "$'\\cé'"]
)
const expanded = FastCheck.oneof(
  FastCheck.tuple(literal, expanding, literal).map((parts) => parts.join("")),
  FastCheck.tuple(
    FastCheck.constantFrom("~", "~/", "a=~", "a=b:~", "~nobody", "a=\\\n~"),
    FastCheck.constant("/x")
  ).map((parts) => parts.join(""))
).filter((text) => !/^(?:\\\n)*#/.test(text))

/** The operator and the delimiter (of a here-string, its text), and the lines, the last one included. */
type Document = { readonly announced: string; readonly lines: string }

const delimiter = FastCheck.constantFrom(
  ...["EOF", "A", "EOF", "A", "'EOF'", '"EOF"', "\\EOF", 'E"O"F', "$'EOF'", "'E F'", "E\\\nOF", "$x", "''", "\\\\"],
  ...['"$x"', "{a,b}", "~", "é"]
)
const bodyPart = FastCheck.constantFrom(
  ...[
    "a",
    " ",
    "\t",
    "'",
    '"',
    "é🙂",
    "\\",
    "\\\\",
    "\\$",
    "\\`",
    '\\"',
    "\\n",
    "\\\n",
    "\\\\\n",
    "\\\n\t",
    "EOF",
    "A"
  ],
  ...["$", "$ ", "$x", "${x}", "$(echo a)", "`echo b`", "$'a'", '$"a"', "$((1))", "$[1]", "$\\\nx", "~", "*", "{a,b}"],
  ...["#", "&", ";", "\n", "\nEOF \n", "\n\tA\t\n", "E\\\nOF", "\r", "\u0001", "\u007f", "$.", "$%", "\\$x", "\\\\$x"]
)
/** Mostly without what bash replaces. */
const body = FastCheck.array(
  FastCheck.oneof(
    { weight: 1, arbitrary: bodyPart },
    { weight: 2, arbitrary: FastCheck.constantFrom("a b", "\\$", "\\\\", "'", "\\\n", "\\`", '\\"', "\n", "\t", "$.") }
  ),
  { maxLength: 8 }
).map((parts) => parts.join(""))

const document: FastCheck.Arbitrary<Document> = FastCheck.tuple(
  FastCheck.constantFrom("<<", "<<-", "<< ", "<<- ", "<\\\n<", "<<\\\n-"),
  delimiter,
  body,
  FastCheck.constantFrom("", "\t", "\t\t", "\\\n")
).map(([operator, delimiter, body, indent]) => {
  const last = words(delimiter)[0]?.value ?? ""
  const tabs = operator.includes("-") && body !== "\\" ? indent : ""
  return { announced: `${operator}${delimiter}`, lines: `${body}${body === "" ? "" : "\n"}${tabs}${last}\n` }
})
const hereString = literal.map((text): Document => ({ announced: `<<< ${text}`, lines: "" }))
const documents = FastCheck.tuple(
  FastCheck.array(FastCheck.oneof(document, document, hereString, literal), { minLength: 1, maxLength: 4 }),
  FastCheck.constantFrom("", " # b", " \\\n")
).map(([parts, end]) => {
  const line = parts.map((part) => (typeof part === "string" ? part : part.announced)).join(" ")
  return `${line}${end}\n${parts.map((part) => (typeof part === "string" ? "" : part.lines)).join("")}`
})

describe("the tokenizer, as bash cuts and reads a line", () => {
  it("gives the words that bash passes, where it says that nothing is expanded", () => {
    const lines = sample(line)
    const theirs = bash(lines.map((text) => `printf '%s\\0' . ${text}`))
    const sure = lines.flatMap((text, index) => (isLiteral(text) ? [{ text, index }] : []))
    assert.isAbove(sure.length, lines.length / 3)
    assert.deepStrictEqual(
      sure.map(({ text }) => ({ text, words: ours(text) })),
      sure.map(({ index, text }) => ({ text, words: theirs[index] }))
    )
  })

  it("says of every word that bash expands that it does", () => {
    const texts = sample(expanded)
    assert.deepStrictEqual(texts.filter(isLiteral), [])
    const missed = texts.filter((text) => !words(text).some(({ expands }) => expands))
    assert.deepStrictEqual(missed, [])
  })

  it("gives the here-document that bash passes, where it says that nothing is expanded", () => {
    const lines = sample(documents)
    const theirs = bash(lines.map((text) => `show . ${text}`))
    const sure = lines.flatMap((text, index) => {
      const { input = "", literal } = parse(text)
      return literal ? [{ text, index, body: input }] : []
    })
    assert.isAbove(sure.length, lines.length / 5)
    assert.deepStrictEqual(
      sure.map(({ body, text }) => ({ text, passed: `${ours(text)}${bytes(body)}` })),
      sure.map(({ index, text }) => ({ text, passed: theirs[index] }))
    )
  })

  it("knows what of a here-document bash expands", () => {
    const bodies = {
      "a 'b' \"c\" ~ * {d,e} $ $. $'f' $\"g\" \\n": "a 'b' \"c\" ~ * {d,e} $ $. $'f' $\"g\" \\n\n",
      '\\$x \\`y\\` \\\\ \\\\\\$x \\"': '$x `y` \\ \\$x \\"\n',
      "a\\\nb\\\\\nc": "ab\\\nc\n",
      "\\\\$x": undefined,
      $x: undefined,
      "${x}": undefined,
      "$(x)": undefined,
      "$[1]": undefined,
      "$\\\nx": undefined,
      "`x`": undefined,
      "$-": undefined
    }
    const read = (text: string) => {
      const here = CommandLine.parse(`w <<E\n${text}\nE\n`).hereDocument
      return here === undefined || here.expands ? undefined : here.body
    }
    assert.deepStrictEqual(Object.fromEntries(Object.keys(bodies).map((text) => [text, read(text)])), bodies)
    assert.strictEqual(CommandLine.parse("w <<'E'\n$x\\\n`\nE").hereDocument?.body, "$x\\\n`\n")
  })

  it("reads an operator over the end of a line, and what redirects another descriptor than the first", () => {
    const operators = (text: string) =>
      parse(text).tokens.flatMap((token) => (token._tag === "Operator" ? token.value : []))
    assert.deepStrictEqual(operators("a &\\\n& b 2\\\n>\\\n>c {fd}<d <\\\n(e) 1{x}>f \\\n|\\\n& g"), [
      "&&",
      "2>>",
      "{fd}<",
      "<",
      "(",
      ")",
      ">",
      "|&"
    ])
    const documents = ["<<E", "<\\\n<E", "<<\\\n-E", "{x}<<E", "3<<E", "2\\\n<<E", "<<E >f", "<<"]
    assert.deepStrictEqual(
      documents.filter((text) => isLiteral(`${text}\na\nE\n`)),
      documents.slice(0, 3)
    )
    assert.isFalse(isLiteral("<<E\na\n"), "its last line is missing")
    assert.isFalse(isLiteral("<<A <<'B'\n$(a)\nA\nb\nB\n"), "the first is expanded as well")
  })
})
