import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Arguments from "../../../src/commands/mcp/internal/Mcp.arguments.js"
import * as McpSchema from "../../../src/commands/mcp/internal/Mcp.schema.js"
import type { JsonSchema } from "../../../src/extension/mcp/McpClient.js"
import { object } from "../../support/commands/McpTools.js"

const toolOf = (inputSchema: JsonSchema) => McpSchema.make({ server: "demo", name: "t", inputSchema })

const given = (schema: JsonSchema, ...words: ReadonlyArray<string>) => Arguments.parse(toolOf(schema), words)

/** The arguments that the words make. */
const values = (schema: JsonSchema, ...words: ReadonlyArray<string>): unknown =>
  Either.match(given(schema, ...words), {
    onLeft: (problems) => ({ problems }),
    onRight: (right) => (right._tag === "Values" ? right.values : right)
  })

const wrong = (schema: JsonSchema, ...words: ReadonlyArray<string>): string =>
  Either.match(given(schema, ...words), {
    onLeft: (problems) => problems.join("\n"),
    onRight: (right) => JSON.stringify(right)
  })

const echo = object({ active: { type: "boolean" }, count: { type: "integer" } }, ["count", "active"])
const search = object(
  {
    query: { type: "string" },
    maxResults: { type: "integer", default: 10 },
    sort: { enum: ["asc", "desc"] },
    tags: { type: "array", items: { type: "string" } },
    deep: { type: "boolean" },
    where: { type: "object" }
  },
  ["query"]
)

describe("the arguments of an MCP tool", () => {
  it("S28: take the types of the schema, in the order of required", () => {
    assert.deepStrictEqual(values(echo, "4", "true"), { count: 4, active: true })
    assert.deepStrictEqual(values(object({ count: { type: "string" } }, ["count"]), "4"), { count: "4" })
  })

  it("may be named in any order, and leave the other places to the others", () => {
    assert.deepStrictEqual(values(echo, "--active", "true", "4"), { count: 4, active: true })
    assert.deepStrictEqual(values(echo, "--active=false", "-5"), { count: -5, active: false })
    assert.deepStrictEqual(values(echo, "4", "--no-active"), { count: 4, active: false })
    assert.deepStrictEqual(values(echo, "--count", "-5", "--active"), { count: -5, active: true })
    assert.deepStrictEqual(values(search, "--query=x", "3", "desc"), { query: "x", maxResults: 3, sort: "desc" })
    assert.deepStrictEqual(values(search, "--deep", "x", "--tags", "a", "--tags", "b c"), {
      query: "x",
      tags: ["a", "b c"],
      deep: true
    })
    assert.deepStrictEqual(values(search, "--", "--deep"), { query: "--deep" })
  })

  it("are turned off by --no-<name>, but where that is the exact name of another", () => {
    const both = object({ x: { type: "boolean" }, "no-x": { type: "boolean" }, y: { type: "boolean" } })
    assert.deepStrictEqual(values(both, "--no-x", "--no-y"), { "no-x": true, y: false })
    assert.deepStrictEqual(values(both, "--x=false", "--no-no-x"), { x: false, "no-x": false })
    const text = object({ x: { type: "boolean" }, "no-x": { type: "string" } })
    assert.deepStrictEqual(values(text, "--x", "--no-x", "why"), { x: true, "no-x": "why" })
  })

  it("that a schema names beyond the thousand that are read are taken, unchecked", () => {
    const many = object(Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`p${at}`, { type: "integer" }])))
    assert.deepStrictEqual(values({ ...many, additionalProperties: false }, "--p1400", "3"), { p1400: 3 })
    assert.include(wrong(many, "--p999", "x"), "p999 must be integer")
  })

  it("are known by their names however those are written, where it is clear which is meant", () => {
    for (const name of ["--max-results", "--maxResults", "--max_results", "--MAX-RESULTS"]) {
      assert.deepStrictEqual(values(search, "x", name, "3"), { query: "x", maxResults: 3 }, name)
    }
    const both = object({ a_b: { type: "string" }, aB: { type: "string" } })
    assert.deepStrictEqual(values(both, "--aB", "1", "--a_b", "2"), { aB: "1", a_b: "2" })
    assert.strictEqual(wrong(both, "--a-b", "1"), "--a-b may mean --a_b or --aB: write it as it is.")
    assert.deepStrictEqual(values(object({ n: { type: "integer" } }), "-n", "2"), { n: 2 })
    assert.deepStrictEqual(values(object({ "no-x": { type: "string" }, x: { type: "boolean" } }), "--no-x", "2"), {
      "no-x": "2"
    })
  })

  it("are arrays and objects as JSON, or word by word", () => {
    assert.deepStrictEqual(values(search, "x", "--tags", '["a","b"]', "--where", '{"a":[1]}'), {
      query: "x",
      tags: ["a", "b"],
      where: { a: [1] }
    })
    assert.deepStrictEqual(values(search, "x", "--tags", "[draft] it"), { query: "x", tags: ["[draft] it"] })
    const paths = object({ paths: { type: "array", items: { type: "string" } } }, ["paths"])
    assert.deepStrictEqual(values(paths, "a", "b", "-5"), { paths: ["a", "b", "-5"] })
    assert.deepStrictEqual(values(paths, "[]"), { paths: [] })
    const numbers = object({ at: { type: "array", items: { type: "integer" } } })
    assert.deepStrictEqual(values(numbers, "1", "2"), { at: [1, 2] })
    assert.strictEqual(wrong(numbers, "1", "x"), 'at[1] must be integer; it was "x".')
  })

  it("that don't fit are told, all of them, with the nearest right name", () => {
    assert.strictEqual(wrong(echo, "x"), 'count must be integer; it was "x".\nactive is missing.')
    assert.strictEqual(
      wrong(echo, "1.5", "yes"),
      'count must be integer; it was "1.5".\nactive must be boolean; it was "yes".'
    )
    assert.strictEqual(wrong(echo, "--count", "1"), "active is missing.")
    assert.strictEqual(
      wrong(search, "x", "--limt", "3").split(" A ")[0],
      "Unknown option --limt: there are --query, --maxResults, --sort, --tags, --deep, --where."
    )
    assert.include(wrong(search, "x", "--maxResult", "3"), "Unknown option --maxResult: did you mean --maxResults?")
    assert.include(wrong(search, "x", "--max", "3"), "did you mean --maxResults?")
    assert.strictEqual(wrong(search, "x", "--sort", "desk"), 'sort must be "asc" | "desc"; it was "desk".')
    assert.strictEqual(
      wrong(search, "x", "--sort", "DESC"),
      'sort must be "asc" | "desc"; it was "DESC"; did you mean desc?'
    )
    assert.strictEqual(wrong(echo, "1", "true", "2", "3"), '"2" and what follows it are too much: it takes at most 2.')
  })

  it("are never taken for what they are not", () => {
    assert.strictEqual(
      wrong(search, "--query", "--deep"),
      '--query needs a value after it; where "--deep" is the value, write --query=--deep.'
    )
    assert.deepStrictEqual(values(search, "--query=--deep"), { query: "--deep" })
    assert.deepStrictEqual(values(search, "--- a\n- b"), { query: "--- a\n- b" })
    assert.strictEqual(wrong(search, "--query"), "--query needs a value after it.")
    assert.strictEqual(wrong(search, "x", "--sort", "asc", "--sort", "asc"), "sort is given twice.")
    assert.strictEqual(wrong(search, "x", "--deep=perhaps"), 'deep must be boolean; it was "perhaps".')
    assert.strictEqual(wrong(search, "x", "--no-deep=true"), "--no-deep takes no value.")
    assert.include(wrong(search, "x", "--no-query"), "Unknown option --no-query")
    assert.deepStrictEqual(values(search, '--query={"query":"x"}'), { query: '{"query":"x"}' })
    assert.deepStrictEqual(values(search, '{"other":"x"}'), { query: '{"other":"x"}' })
  })

  it("keep numbers and bytes exact, or are refused", () => {
    const any = object({ n: { type: "number" }, i: { type: "integer" }, s: { type: "string" }, o: {} })
    assert.deepStrictEqual(values(any, "--n", "1e3", "--i", "9007199254740991"), { n: 1000, i: 9007199254740991 })
    for (const word of ["9007199254740993", "1e400", "NaN", "Infinity", "-Infinity", "0x10", "", " 1", "1_0"]) {
      assert.match(
        wrong(any, "--n", word),
        /^n (?:must be number; it was ".*"|was ".*", (?:a number that JSON's readers round|larger than all numbers of .*))\.$/,
        word
      )
    }
    assert.include(wrong(any, "--i", "9007199254740993"), "a number that JSON's readers round")
    for (const name of ["i", "n"]) {
      const schema = object({ i: { type: "integer" }, n: { type: "number" } })
      assert.strictEqual(
        wrong(schema, `--${name}`, "1e999"),
        `${name} was "1e999", larger than all numbers of JSON's readers (1.7976931348623157e+308).`
      )
    }
    assert.include(
      wrong(object({ o: { type: "object" } }), "--o", '{"a":-1e999}'),
      "-1e999 is larger than all numbers of"
    )
    assert.include(
      wrong(object({ o: { type: "object" } }), "--o", '{"a":9007199254740993}'),
      "that JSON's readers round"
    )
    assert.strictEqual(wrong(any, "--i", "1e3"), 'i must be integer; it was "1e3".')
    assert.deepStrictEqual(values(any, "--o", "9007199254740993"), { o: "9007199254740993" })
    assert.include(
      wrong(search, "x", "--where", '{"id":9007199254740993}'),
      "9007199254740993 is a number that JSON's readers round"
    )
    assert.include(wrong(search, "x", "--where", '{"a":1,"a":2}'), "the name stands here twice")
    assert.strictEqual(wrong(any, "--s", "a\udcff"), 's is no UTF-8, which JSON needs; it was "a\\xff".')
    assert.deepStrictEqual(values(any, "--s", "🙂\n\u0000"), { s: "🙂\n\u0000" })
  })

  it("are unions, enumerations, references and what a schema does not say", () => {
    const of = (schema: unknown, word: string, root: JsonSchema = {}) => {
      const found = values(object({ v: schema }, [], root), "--v", word) as { v?: unknown; problems?: unknown }
      return "v" in found ? found.v : found.problems
    }
    assert.strictEqual(of({ anyOf: [{ type: "string" }, { type: "null" }] }, "null"), null)
    assert.strictEqual(of({ anyOf: [{ type: "string" }, { type: "null" }] }, '"exact phrase"'), '"exact phrase"')
    assert.strictEqual(of({ type: ["integer", "string"] }, "4"), 4)
    assert.strictEqual(of({ type: ["integer", "string"] }, "007"), "007")
    assert.strictEqual(of({ type: "integer" }, "007"), 7)
    assert.strictEqual(of({ oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "a"), "a")
    assert.deepStrictEqual(of({ oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, '["a"]'), [
      "a"
    ])
    assert.strictEqual(of({ enum: [1, "1x", null] }, "1"), 1)
    assert.strictEqual(of({ enum: [1, "1x", null] }, "1x"), "1x")
    assert.strictEqual(of({ const: "only" }, "only"), "only")
    assert.strictEqual(of({ allOf: [{ type: "integer" }, { minimum: 0 }] }, "3"), 3)
    assert.strictEqual(of({ $ref: "#/$defs/a~1b" }, "3", { $defs: { "a/b": { type: "integer" } } }), 3)
    assert.strictEqual(of({ $ref: "#/$defs/loop" }, "3", { $defs: { loop: { $ref: "#/$defs/loop" } } }), 3)
    assert.strictEqual(of({ $ref: "https://elsewhere" }, "x"), "x")
    assert.strictEqual(of(true, "x"), "x")
    assert.deepStrictEqual(of({}, "[1]"), [1])
    assert.deepStrictEqual(of(false, "x"), ['v must be nothing; it was "x".'])
    const tree: JsonSchema = {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } }, n: { type: "integer" } }
    }
    assert.deepStrictEqual(of({ $ref: "#/$defs/tree" }, '{"kids":[{"n":1}]}', { $defs: { tree } }), {
      kids: [{ n: 1 }]
    })
  })

  it("are bounded, whatever the schema does", () => {
    const bomb = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }
      ])
    )
    assert.deepStrictEqual(values(object({ v: { $ref: "#/$defs/d0" } }, [], { $defs: bomb }), "1"), { v: 1 })
    assert.include(wrong(search, `--${"no-".repeat(100_000)}x`), "Unknown option")
    assert.deepStrictEqual(values({ properties: { a: 1, b: "x" }, required: ["c", 5] }, "1", "2", "3"), {
      c: 1,
      a: 2,
      b: 3
    })
    assert.deepStrictEqual(
      Object.entries(values(object(JSON.parse('{"__proto__":{"type":"string"}}')), "x") as object),
      [["__proto__", "x"]]
    )
  })

  it("have names of the server's own where it allows them", () => {
    const open = object({ a: { type: "string" } }, [], { additionalProperties: { type: "integer" } })
    assert.deepStrictEqual(values(open, "x", "--b", "1", "--c=2"), { a: "x", b: 1, c: 2 })
    assert.strictEqual(wrong(open, "--b", "x"), 'b must be integer; it was "x".')
    assert.include(wrong(object({ a: { type: "string" } }), "--b", "1"), "Unknown option --b: there are --a.")
    assert.strictEqual(
      wrong({ type: "object" }, "x"),
      "\"x\" is too much: the tool's schema names no parameters, so that only --json '{…}' can be given."
    )
    assert.include(wrong({ type: "object" }, "--b", "1"), "Unknown option --b: there is --json only.")
    assert.strictEqual(
      wrong(object({}, [], { additionalProperties: false }), "x"),
      '"x" is too much: it takes no arguments.'
    )
  })

  it("are all in --json, or on standard input where nothing else can be meant", () => {
    assert.deepStrictEqual(given(search, "--json", "{}"), Either.right(Arguments.Given.Whole({ json: "{}" })))
    assert.deepStrictEqual(given(search, "--json={}"), Either.right(Arguments.Given.Whole({ json: "{}" })))
    assert.deepStrictEqual(given(search, "--json", "-"), Either.right(Arguments.Given.Input({ isAsked: true })))
    assert.deepStrictEqual(given(search), Either.right(Arguments.Given.Input({ isAsked: false })))
    assert.deepStrictEqual(values(object({ a: { type: "string" } })), {})
    assert.strictEqual(
      wrong(search, "x", "--json", "{}"),
      "--json is all of the arguments, in one word: no others go with it."
    )
    assert.include(wrong(search, "--json"), "--json needs the arguments after it")
    assert.deepStrictEqual(values(object({ json: { type: "string" } }), "x"), { json: "x" })
  })

  it("ask for help alone, or where no parameter has that name", () => {
    const helped = object({ help: { type: "string" } })
    for (const words of [["-h"], ["--help"], ["x", "--help"], ["x", "-h"]]) {
      assert.deepStrictEqual(given(search, ...words), Either.right(Arguments.Given.Help()), words.join(" "))
    }
    assert.deepStrictEqual(given(helped, "--help"), Either.right(Arguments.Given.Help()))
    assert.deepStrictEqual(given(object({ h: { type: "string" } }), "-h"), Either.right(Arguments.Given.Help()))
    assert.deepStrictEqual(values(helped, "--help", "x"), { help: "x" })
    assert.deepStrictEqual(values(search, "--", "--help"), { query: "--help" })
  })

  it("that other callers write in their way are taken, or refused with ours", () => {
    const sum = object({ a: { type: "integer" }, b: { type: "integer" } }, ["a", "b"])
    assert.include(wrong(sum, "--args", '{"a":3}'), "Unknown option --args: there are --a, --b.")
    assert.deepStrictEqual(values(object({ args: { type: "object" } }), "--args", '{"a":3}'), { args: { a: 3 } })
    assert.deepStrictEqual(values(sum, "a=3", "b=-4"), { a: 3, b: -4 })
    assert.deepStrictEqual(values(search, "query=two words"), { query: "two words" })
    assert.include(wrong(sum, "a=3", "a=4"), "a is given twice")
    assert.include(wrong(sum, "a=x"), "a must be integer")
    assert.deepStrictEqual(values(search, "--", "query=x"), { query: "query=x" })
    assert.deepStrictEqual(values(search, "other=x"), { query: "other=x" })
    assert.deepStrictEqual(values(search, "--query", "query=x"), { query: "query=x" })
    const write = object({ path: { type: "string" }, message: { type: "string" } }, ["path", "message"])
    assert.include(wrong(write, "--file_path", "x"), "Unknown option --file_path: did you mean --path?")
    assert.include(wrong(write, "--msg", "x"), "Unknown option --msg: did you mean --message?")
  })

  it("that are on or off take no other words, and none where they may be a text as well", () => {
    const think = object({ next: { type: ["string", "boolean"] }, n: { type: "integer" } }, ["next"])
    assert.deepStrictEqual(values(think, "--next", "--n", "1"), { next: true, n: 1 })
    assert.deepStrictEqual(values(think, "--n", "1", "--next"), { next: true, n: 1 })
    assert.deepStrictEqual(values(think, "--next", "later"), { next: "later" })
    assert.strictEqual(wrong(search, "--deep", "yes"), '--deep takes no "yes": write --deep, or --deep=false.')
    assert.strictEqual(wrong(search, "x", "--deep=off"), '--deep takes no "off": write --deep, or --deep=false.')
    assert.deepStrictEqual(values(search, "--deep", "--", "no"), { query: "no", deep: true })
  })
})
