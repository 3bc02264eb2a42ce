/** On directories of a test's own: what `npm ci` can have without a network. */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as NpmCi from "../../../src/sandbox/denial/NpmCi.js"
import * as Directory from "../../support/sandbox/Directory.js"

const digestOf = (name: string) => Crypto.createHash("sha512").update(name)
const contentOf = (name: string) => {
  const hex = digestOf(name).digest("hex")
  return `_cacache/content-v2/sha512/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex.slice(4)}`
}
const packageOf = (name: string, more: object = {}) => ({
  [`node_modules/x/node_modules/${name}`]: {
    resolved: `https://registry.example/${name}.tgz`,
    integrity: `sha512-${digestOf(name).digest("base64")}`,
    ...more
  }
})

/** Makes a project whose lock file names packages; `users` and `own` are the names of those that a cache has. */
const withProject = (
  title: string,
  packages: object,
  test: (lacking: (command: string) => ReadonlyArray<string>, place: string) => void
) =>
  it.scoped(title, () =>
    Effect.map(Directory.make, (directory) => {
      const place = Fs.realpathSync(directory)
      for (const path of ["project/node_modules/x", "caches"]) Fs.mkdirSync(`${place}/${path}`, { recursive: true })
      for (const [at, name] of [
        ["users", "in-users"],
        ["caches/npm", "in-own"]
      ] as const) {
        Fs.mkdirSync(Path.dirname(`${place}/${at}/${contentOf(name)}`), { recursive: true })
        Fs.writeFileSync(`${place}/${at}/${contentOf(name)}`, name)
      }
      Fs.writeFileSync(
        `${place}/project/package-lock.json`,
        JSON.stringify({ packages: { "": { name: "p" }, ...packages } })
      )
      const caches = { users: `${place}/users`, directory: `${place}/caches`, own: "npm" }
      test((command) => NpmCi.lacking(CommandLine.parse(command), `${place}/project`, caches), place)
    })
  )

const both = { ...packageOf("in-users"), ...packageOf("in-own") }

describe("the packages of npm ci", () => {
  withProject("are read from the user's cache too", both, (lacking, place) => {
    assert.deepStrictEqual(lacking("npm ci"), [])
    const path = `${place}/caches/npm/${contentOf("in-users")}`
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "in-users")
    assert.strictEqual(Fs.realpathSync(path), `${place}/users/${contentOf("in-users")}`)
  })

  withProject(
    "are told where neither cache has them, and node_modules would be emptied",
    {
      ...both,
      ...packageOf("@a/nowhere"),
      ...packageOf("for-another-system", { optional: true }),
      ...packageOf("of-a-server-in-the-sandbox", { resolved: "http://127.0.0.1:4873/x.tgz" }),
      ...packageOf("of-a-file", { resolved: "file:../x.tgz" }),
      ...packageOf("to-test", { dev: true }),
      ...packageOf("of-an-old-lock", { integrity: `sha1-${Buffer.alloc(20).toString("base64")}` }),
      ...packageOf("without-a-hash", { integrity: undefined }),
      ...packageOf("of-git", { resolved: "git+ssh://git@h/a.git#1", integrity: undefined }),
      "packages/own": { name: "own" },
      "node_modules/own": { resolved: "packages/own", link: true }
    },
    (lacking, place) => {
      for (const command of [
        "npm ci --offline 2>&1 | tail -3",
        "cd .. && npm --prefix project clean-install",
        "sh -c 'CI=1 npm ci'"
      ])
        assert.deepStrictEqual(lacking(command), ["@a/nowhere", "to-test", "of-an-old-lock", "without-a-hash"], command)
      assert.deepStrictEqual(lacking("npm ci --omit=dev"), ["@a/nowhere", "of-an-old-lock", "without-a-hash"])
      for (const command of ["npm install", "npm ci --dry-run", "npm test", "echo npm ci", "cd .. && npm ci"])
        assert.deepStrictEqual(lacking(command), [], command)
      Fs.rmSync(`${place}/project/node_modules/x`, { recursive: true })
      assert.deepStrictEqual(lacking("npm ci"), [])
    }
  )

  withProject("are put nowhere else by a link on the way", both, (lacking, place) => {
    Fs.mkdirSync(`${place}/elsewhere`)
    for (const at of ["caches/npm", "caches/npm/_cacache/content-v2"]) {
      Fs.rmSync(`${place}/${at}`, { recursive: true })
      Fs.symlinkSync(`${place}/elsewhere`, `${place}/${at}`)
      lacking("npm ci")
      assert.isFalse(Fs.lstatSync(`${place}/${at}`).isSymbolicLink(), at)
    }
    assert.deepStrictEqual(Fs.readdirSync(`${place}/elsewhere`), [])
  })

  withProject("are none of a lock file that is none", both, (lacking, place) => {
    for (const text of ["", "{", "[]", '{"packages":{"a":1}}', '{"lockfileVersion":1}']) {
      Fs.writeFileSync(`${place}/project/package-lock.json`, text)
      assert.deepStrictEqual(lacking("npm ci"), [], text)
    }
  })
})
