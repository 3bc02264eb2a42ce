import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Definition from "../../../src/extension/mcp/Definition.js"
import * as McpName from "../../../src/extension/mcp/McpName.js"
import * as Server from "../../../src/extension/mcp/Server.js"

const decode = (value: unknown) => Either.merge(Definition.decode(value))

describe("the definition of a server", () => {
  it("is a program or an address", () => {
    const env = { A: "b" }
    assert.deepStrictEqual(decode({ command: "c", args: ["a"], env, cwd: ".", type: "stdio" }), {
      definition: Definition.Definition.Stdio({ command: "c", args: ["a"], env, cwd: "." }),
      isDisabled: false,
      ignored: []
    })
    for (const type of ["http", "streamable-http", "streamableHttp"]) {
      assert.deepStrictEqual(decode({ type, url: "https://e", disabled: true }), {
        definition: Definition.Definition.Http({ url: "https://e", headers: {} }),
        isDisabled: true,
        ignored: []
      })
    }
  })

  it("names the keys that have no effect", () => {
    const ignored = (value: unknown) => Either.getOrThrow(Definition.decode(value)).ignored
    assert.deepStrictEqual(ignored({ command: "c", autoApprove: [], timeout: 1, headers: {} }), [
      "autoApprove",
      "timeout",
      "headers"
    ])
    assert.deepStrictEqual(ignored({ url: "https://e", env: {}, args: [] }), ["env", "args"])
  })

  it("is refused with the reason", () => {
    assert.deepStrictEqual(
      [
        5,
        null,
        [],
        {},
        { command: "c", url: "u" },
        { command: " " },
        { command: 5 },
        { command: "c", args: "a b" },
        { command: "c", args: [1] },
        { command: "c", env: { PORT: 80 } },
        { command: "c", type: "http" },
        { url: "u", type: "stdio" },
        { url: "u", type: "sse" },
        { url: "u", headers: { "a\x1b[2J": 1 } }
      ].map(decode),
      [
        "it is no object",
        "it is no object",
        "it is no object",
        "it has neither a command nor a url",
        "it has a command and a url, which exclude each other",
        "its command is empty",
        "command: Expected string, actual 5",
        'args: Expected ReadonlyArray<string>, actual "a b"',
        "args[0]: Expected string, actual 1",
        "env.PORT: Expected string, actual 80",
        'its type is "http", and a command goes with stdio',
        'its type is "stdio", and a url goes with http',
        "its type is sse, which is not supported: give the server's streamable HTTP address",
        'headers["a\\u001b[2J"]: Expected string, actual 1'
      ]
    )
  })

  it("is shown without what is secret in an address, and on one line", () => {
    const target = (value: unknown) => Definition.target(Either.getOrThrow(Definition.decode(value)).definition)
    assert.strictEqual(
      target({ url: "https://me:pw@e.example/mcp?key=s3cret&k=${K}#x" }),
      "https://…@e.example/mcp?key=…&k=${K}#x"
    )
    assert.strictEqual(
      target({ command: "a b", args: ["-y", "x\x1b[31m\n\u202e"], env: { S: "s3cret" } }),
      "'a b' -y 'x\\u001b[31m\\n\\u202e'"
    )
    const args = [
      "postgresql://me:pw@db/prod?sslkey=s3cret",
      "--api-key",
      "s3cret",
      "--token=s3cret",
      "-e",
      "GH_TOKEN=s3cret",
      "--key",
      "${KEY}",
      "--auth",
      "--verbose",
      "a key=b"
    ]
    assert.strictEqual(
      target({ command: "npx", args }),
      "npx postgresql://…@db/prod?sslkey=… --api-key … --token=… -e GH_TOKEN=… --key '${KEY}' --auth --verbose 'a key=b'"
    )
  })

  it("is shown with all that could be run, where a person is asked", () => {
    for (const text of [
      "node",
      "x=`id`",
      "http://a/?x=$(id)",
      "a://;id@b",
      "http://`id`@a",
      "a://b?c='d'",
      "http://a b?c=d",
      "eval?a=b",
      "--token=evil.js"
    ])
      assert.strictEqual(Definition.withoutSecrets(text), text)
    assert.strictEqual(Definition.withoutSecrets("a://b?x=a;id"), "a://b?x=…;id")
    assert.strictEqual(Definition.withoutSecrets("git+https://u:p@h/x?k=v&l=w"), "git+https://…@h/x?k=…&l=…")
  })

  it("never throws, and what it takes it writes so that it takes that as the same", () => {
    const text = FastCheck.string()
    const value = FastCheck.oneof(
      FastCheck.anything(),
      FastCheck.record(
        {
          command: FastCheck.oneof(text, FastCheck.integer()),
          args: FastCheck.array(text),
          env: FastCheck.dictionary(text, text),
          cwd: text,
          type: FastCheck.constantFrom("stdio", "http", "sse"),
          url: text,
          headers: FastCheck.dictionary(text, text)
        },
        { requiredKeys: [] }
      )
    )
    const places = { variables: {}, userHome: "/u", root: "/r" }
    FastCheck.assert(
      FastCheck.property(value, (value) => {
        const decoded = Definition.decode(value)
        if (Either.isLeft(decoded)) return
        const { definition } = decoded.right
        Definition.target(definition)
        Server.expandDefinition(definition, places, "/d")
        assert.deepStrictEqual(
          Either.getOrThrow(Definition.decode(Definition.encode(definition))).definition,
          definition
        )
      })
    )
  })
})

describe("what a definition expands to", () => {
  const places = { variables: { T: "tok", BAD: "a\nb", U: "é" }, userHome: "/u", root: "/r" }
  const make = (value: unknown) =>
    Either.merge(
      Either.flatMap(Definition.decode(value), ({ definition }) =>
        Server.expandDefinition(definition, places, "/home/mcp")
      )
    )

  it("has its variables everywhere, and an absolute directory", () => {
    assert.deepStrictEqual(make({ command: "${T}", args: ["${T}"], env: { A: "${T}" }, cwd: "~/${T}" }), {
      _tag: "Stdio",
      command: "tok",
      args: ["tok"],
      env: { A: "tok" },
      cwd: "/u/tok"
    })
    const home = make({ command: "~/bin/c", args: ["~/a", "~", "~b", "x~/y"] })
    assert.deepStrictEqual(typeof home !== "string" && home._tag === "Stdio" ? [home.command, ...home.args] : [], [
      "/u/bin/c",
      "/u/a",
      "/u",
      "~b",
      "x~/y"
    ])
    assert.deepStrictEqual(
      [undefined, ".", "sub", "/abs", "~", "~x"]
        .map((cwd) => make({ command: "c", ...(cwd && { cwd }) }))
        .map((one) => (typeof one !== "string" && one._tag === "Stdio" ? one.cwd : one)),
      ["/home/mcp", "/r", "/r/sub", "/abs", "/u", "/r/~x"]
    )
    assert.deepStrictEqual(
      make({ url: "http://h/${T}", headers: { Authorization: "Bearer ${T}" } }),
      Definition.Definition.Http({ url: "http://h/tok", headers: { Authorization: "Bearer tok" } })
    )
  })

  it("is refused with the reason, which holds no value", () => {
    assert.deepStrictEqual(
      [
        { url: "https://h", headers: { A: "Bearer ${NO}" } },
        { url: "https://h", headers: { A: "${BAD}" } },
        { url: "https://h", headers: { "A B": "x" } },
        { url: "${T}" },
        { url: "file:///etc/passwd" },
        { url: "https://u:p@h" },
        { url: "https://:p@h" },
        { command: "c", env: { "A=B": "x" } },
        { command: "c", args: ["x", "a\0b"] },
        { command: "${E:-}" }
      ].map(make),
      [
        "headers.A: the variable NO is not set",
        "headers.A: it holds a character that no header may hold",
        `headers: "A B" can't be a header's name`,
        "url: it is no address",
        "url: it is no http or https address",
        "url: it holds a user or a password, whose place is in headers",
        "url: it holds a user or a password, whose place is in headers",
        `env: "A=B" can't be a variable's name`,
        "args[1]: it holds a NUL, which no program can be given",
        "command: it is empty"
      ]
    )
  })
})

describe("the name of a server", () => {
  it("can be part of a command", () => {
    for (const name of ["gh", "a.b", "A_1-x", "_x", "constructor", "x".repeat(64)]) {
      assert.strictEqual(McpName.refusal(name), undefined, name)
    }
    for (const name of [
      "",
      "..",
      ".a",
      "-x",
      "a/b",
      "a:b",
      "a b",
      "a\nb",
      "\x1b[2J",
      "__proto__",
      "é",
      "x".repeat(65)
    ]) {
      assert.isString(McpName.refusal(name), name)
    }
  })
})
