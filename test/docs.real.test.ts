/** The examples of the README and of docs/ are run as they stand; `npx vitest run test/docs -u` writes what they print. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Temporary from "./support/Temporary.js"

const root = Path.resolve(import.meta.dirname, "..")
const docs = Path.join(root, "docs")
const pages = [Path.join(root, "README.md"), ...Fs.readdirSync(docs).map((name) => Path.join(docs, name))].filter(
  (page) => page.endsWith(".md")
)

type Run = (
  file: string,
  ...args: ReadonlyArray<string>
) => { readonly printed: string; readonly status: number | null }

/** A home with a project, whose commands find the built program and this checkout's packages. */
const withHome = <A>(use: (run: Run, demo: string) => A): Promise<A> =>
  Temporary.using(async (home) => {
    const [demo, bin, modules] = ["demo", "bin", "demo/node_modules"].map((name) => Path.join(home, name)) as [
      string,
      string,
      string
    ]
    for (const directory of [bin, modules]) Fs.mkdirSync(directory, { recursive: true })
    Fs.writeFileSync(Path.join(demo, "config.ts"), "export const port = 80\n")
    Fs.writeFileSync(Path.join(demo, ".env"), "API_KEY=secret\n")
    Fs.symlinkSync(Path.join(root, "dist/bin/synapse.cjs"), Path.join(bin, "synapse"))
    const packages = [
      "effect",
      "@effect/platform-node",
      "ai",
      "@openai/agents",
      "@langchain/core",
      "@modelcontextprotocol/sdk"
    ]
    for (const [name, at] of [
      ["synapse-shell", root] as const,
      ...packages.map((name) => [name, Path.join(root, "node_modules", name)] as const)
    ]) {
      Fs.mkdirSync(Path.dirname(Path.join(modules, name)), { recursive: true })
      Fs.symlinkSync(at, Path.join(modules, name))
    }
    const path = [bin, Path.dirname(process.execPath), Path.join(root, "node_modules/.bin"), process.env["PATH"]]
    const env = { PATH: path.join(":"), HOME: home, LANG: "C.UTF-8", TMPDIR: Os.tmpdir() }
    return use((file, ...args) => {
      const { stdout, stderr, error, status } = ChildProcess.spawnSync(file, args, {
        cwd: demo,
        env,
        encoding: "utf8",
        input: "",
        timeout: 60_000
      })
      if (error !== undefined) throw error
      return { printed: `${stdout}${stderr}`.replaceAll(home, "/home/ada"), status }
    }, demo)
  })

/** `…` stands for any text in its line, and alone in a line for any lines. */
const matches = (expected: string, actual: string): boolean => {
  const pattern = expected
    .split("\n")
    .map((line) => (line === "…" ? "(?:.*\\n)*?.*" : line.split("…").map(escape).join(".*")))
    .join("\n")
  return new RegExp(`^${pattern}$`).test(actual)
}
const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** Replaces what the commands of a block are said to print by what they print, where that differs. */
const rerun = (block: string, run: (command: string) => string): string =>
  block
    .split(/^(?=\$ )/m)
    .map((part) => {
      const command = /^\$ (.*(?:\n> .*)*)\n?/.exec(part)
      if (command === null) return part
      const said = part.slice(command[0].length).trimEnd()
      const does = run((command[1] ?? "").replaceAll("\n> ", "\n")).trimEnd()
      const kept = matches(said, does) ? said : does
      return `$ ${command[1]}\n${kept === "" ? "" : `${kept}\n`}`
    })
    .join("")

const fences = (text: string, language: string) =>
  new RegExp(`(?<=^\`\`\`${language}\\n)(?:(?!\`\`\`)[^])*`, "gm")[Symbol.matchAll](text)

interface JsonSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
}

/** Lists what a schema describes, by its path: `providers.<name>.model`. */
const fieldsOf = (
  { additionalProperties: more, description, properties = {} }: JsonSchema,
  path = ""
): ReadonlyArray<ReadonlyArray<string>> =>
  description !== undefined && path !== ""
    ? [[`\`${path}\``, description]]
    : Object.entries({ ...properties, ...(typeof more === "object" ? { "<name>": more } : {}) }).flatMap(
        ([name, inner]) => fieldsOf(inner, path === "" ? name : `${path}.${name}`)
      )

describe("the documentation", () => {
  for (const page of pages) {
    const text = Fs.readFileSync(page, "utf8")
    const name = Path.relative(root, page)

    it(`${name} leads nowhere that is missing`, () => {
      for (const [, link = ""] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (!link.includes("://")) assert.isTrue(Fs.existsSync(Path.resolve(Path.dirname(page), link)), link)
      }
    })

    it(`${name} has no sentence of more than 25 words`, () => {
      const prose = text
        .replace(/^```[\s\S]*?^```/gm, "\n")
        .replace(/^\|.*$/gm, "")
        .replace(/`[^`]*`/g, "code")
      const sentences = prose
        .split(/\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |#)/)
        .flatMap((block) => block.split(/(?<=[.!?]["*)]*)\s+/))
      const long = sentences.filter((sentence) => (sentence.match(/\S*[\p{L}\d]\S*/gu) ?? []).length > 25)
      assert.deepStrictEqual(long, [])
    })

    it.runIf(/^```console$/m.test(text))(`${name} shows what its examples print`, () =>
      withHome(async (run) => {
        let printed = text
        for (const [block] of [...fences(text, "console")])
          printed = printed.replace(block, () =>
            rerun(block, (command) => run("bash", "-c", `exec 2>&1\n${command}`).printed)
          )
        await expect(printed).toMatchFileSnapshot(page)
      })
    )
  }

  // In one process, since most of what they cost is to load the library.
  it("the programs of all pages run, and end", () =>
    withHome(async (run, demo) => {
      let all = ""
      for (const page of pages) {
        for (const [at, [program]] of [...fences(Fs.readFileSync(page, "utf8"), "js")].entries()) {
          const name = `${Path.basename(page)}.${at}.mjs`
          Fs.writeFileSync(Path.join(demo, name), program)
          all += `await import("./${name}"); console.log("end of ${name}")\n`
        }
      }
      const { printed, status } = run(process.execPath, "--input-type=module", "-e", all)
      assert.strictEqual(status, 0, printed)
      for (const [end] of all.matchAll(/end of [^"]+/g)) assert.include(printed, `${end}\n`)
      assert.include(printed, "end of README.md.0.mjs")
    }))

  it("docs/settings.md has the fields of each file, as its schema names them", async () => {
    const page = Path.join(docs, "settings.md")
    let text = Fs.readFileSync(page, "utf8")
    for (const file of Fs.readdirSync(Path.join(root, "dist/schemas"))) {
      const schema = JSON.parse(Fs.readFileSync(Path.join(root, "dist/schemas", file), "utf8"))
      const rows = [["field", "sets"], ...fieldsOf(schema)]
      // As wide as the formatter makes them.
      const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
      const table = [...rows.slice(0, 1), widths.map((width) => "-".repeat(width)), ...rows.slice(1)]
        .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`)
        .join("")
      text = text.replace(new RegExp(`(?<=^## .*\\b${escape(file)}\`\\n[^|]*)(?:\\|.*\\n)+`, "m"), () => table)
    }
    await expect(text).toMatchFileSnapshot(page)
  })

  it("docs/settings.md names every variable", () => {
    const text = Fs.readFileSync(Path.join(docs, "settings.md"), "utf8")
    const src = Path.join(root, "src")
    const files = Fs.readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const names = files.flatMap((file) =>
      Array.from(
        Fs.readFileSync(Path.join(src, file), "utf8").matchAll(/"(SYNAPSE_[A-Z_]+)"/g),
        ([, name = ""]) => name
      )
    )
    assert.isAbove(names.length, 10)
    for (const name of names) if (name !== "SYNAPSE_SESSION") assert.include(text, `\`${name}\``)
  })
})
