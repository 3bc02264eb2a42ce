/** Against real directories: the places for private files are this user's alone, or they are not used. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PrivateDirectory from "../../src/session/PrivateDirectory.js"
import * as Directory from "../support/sandbox/Directory.js"

const inDirectory = (use: (directory: string) => void) =>
  Effect.scoped(Effect.map(Directory.make, (directory) => use(directory)))

const refusal = (places: ReadonlyArray<string>): string => {
  try {
    return `made ${PrivateDirectory.make(places)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const modeOf = (path: string) => Fs.lstatSync(path).mode & 0o777

describe("a private directory", () => {
  it.live("lies in the home directory first, whatever SYNAPSE_HOME says, and in /tmp last", () =>
    Effect.sync(() => {
      const places = PrivateDirectory.places()
      assert.match(places[0] ?? "", /\/\.synapse\/run$/)
      assert.strictEqual(places.at(-1), `/tmp/synapse-${process.getuid?.()}`)
      assert.strictEqual(new Set(places).size, places.length)
    })
  )

  it.live("is made with its place, for nobody else to enter", () =>
    inDirectory((home) => {
      const made = PrivateDirectory.make([`${home}/.synapse/run`])
      assert.strictEqual(Path.dirname(made), `${home}/.synapse/run`)
      assert.deepStrictEqual([made, `${home}/.synapse/run`, `${home}/.synapse`].map(modeOf), [0o700, 0o700, 0o700])
    })
  )

  it.live.skipIf(process.getuid?.() !== 0)(
    "is not made where root comes only by its rights: commands have none of them",
    () =>
      inDirectory((directory) => {
        for (const [name, mode] of [
          ["none", 0],
          ["read", 0o444],
          ["others", 0o055]
        ] as const) {
          Fs.mkdirSync(`${directory}/${name}/home`, { recursive: true })
          Fs.chmodSync(`${directory}/${name}`, mode)
          assert.strictEqual(
            refusal([`${directory}/${name}/home/.synapse/run`]),
            `there is no place for private files: ${directory}/${name} can't be entered by commands`
          )
          assert.deepStrictEqual(Directory.list(`${directory}/${name}/home`), [])
        }
        const made = PrivateDirectory.make([`${directory}/none/home/.synapse/run`, `${directory}/.synapse/run`])
        assert.strictEqual(Path.dirname(made), `${directory}/.synapse/run`)
      })
  )

  it.live.skipIf(process.getuid?.() !== 0)("is not made in the home of another user", () =>
    inDirectory((home) => {
      Fs.chownSync(home, 65_534, 65_534)
      assert.match(refusal([`${home}/.synapse/run`]), /belongs to others/)
    })
  )

  it.live("is not made in a place that others may enter or write, that is a link or a file, or lies in a link", () =>
    inDirectory((home) => {
      const place = `${home}/.synapse/run`
      const theirs = () => {
        Fs.mkdirSync(place, { recursive: true, mode: 0o700 })
        Fs.chownSync(place, 65_534, 65_534)
      }
      const spoil: ReadonlyArray<() => void> = [
        () => {
          Fs.mkdirSync(place, { recursive: true })
          Fs.chmodSync(place, 0o755)
        },
        () => {
          Fs.mkdirSync(place, { recursive: true, mode: 0o700 })
          Fs.chmodSync(`${home}/.synapse`, 0o777)
        },
        () => {
          Fs.mkdirSync(place, { recursive: true, mode: 0o700 })
          Fs.chmodSync(place, 0o444)
        },
        () => {
          Fs.mkdirSync(`${home}/.synapse`)
          Fs.writeFileSync(place, "")
        },
        () => {
          Fs.mkdirSync(`${home}/.synapse`)
          Fs.mkdirSync(`${home}/other`, { mode: 0o700 })
          Fs.symlinkSync("../other", place)
        },
        () => {
          Fs.mkdirSync(`${home}/other`, { mode: 0o700 })
          Fs.symlinkSync("other", `${home}/.synapse`)
        },
        ...(process.getuid?.() === 0 ? [theirs] : [])
      ]
      for (const each of spoil) {
        each()
        assert.match(
          refusal([place]),
          /^there is no place for private files: .* must be a directory of yours that nobody/
        )
        // The next one is taken.
        assert.strictEqual(refusal([place, `${home}/next`]).replace(/[^/]*$/, ""), `made ${home}/next/`)
        Fs.chmodSync(`${home}/.synapse`, 0o700)
        for (const name of [".synapse", "other", "next"]) Fs.rmSync(`${home}/${name}`, { recursive: true, force: true })
      }
      Fs.chmodSync(home, 0o777)
      assert.match(refusal([place]), /others may write it$/)
    })
  )

  it.live("names the obstacles of all places where none can be used", () =>
    inDirectory((home) => {
      Fs.writeFileSync(`${home}/file`, "")
      assert.match(
        refusal([`${home}/nosuch/place`, `${home}/file`]),
        /^there is no place for private files: ENOENT.*; .*\/file must be a directory of yours/
      )
      assert.deepStrictEqual(PrivateDirectory.examine([`${home}/file`, `${home}/a`]), {
        place: `${home}/a`,
        obstacles: [`${home}/file must be a directory of yours that nobody else may enter: correct or remove it`]
      })
      assert.deepStrictEqual(Directory.list(home), ["file"])
    })
  )
})

describe("a reservation", () => {
  it.live("makes the places that commands could make, and holds them until it is released", () =>
    inDirectory((root) => {
      for (const name of ["in", "out"]) Fs.mkdirSync(`${root}/${name}`)
      const places = [`${root}/in/.synapse/run`, `${root}/in/tmp`, `${root}/out/.synapse/run`, `${root}/nosuch/place`]
      const isWritable = (path: string) => path.startsWith(`${root}/in/`)
      const one = PrivateDirectory.reserve(places, isWritable)
      const other = PrivateDirectory.reserve(places, isWritable)
      assert.deepStrictEqual(one.places, [`${root}/in/.synapse/run`, `${root}/in/tmp`])
      assert.deepStrictEqual([...one.places].map(modeOf), [0o700, 0o700])
      one.release()
      assert.isTrue(one.places.every((place) => Fs.existsSync(place)))
      other.release()
      assert.isFalse(one.places.some((place) => Fs.existsSync(place)))
      assert.deepStrictEqual(Directory.list(`${root}/out`), [])
    })
  )

  it.live("is refused where a command has put a file or a link in the way", () =>
    inDirectory((root) => {
      for (const place of [`${root}/file`, `${root}/link`]) {
        if (place.endsWith("file")) Fs.writeFileSync(place, "")
        else Fs.symlinkSync("/nosuch", place)
        assert.throws(() => PrivateDirectory.reserve([place], () => true), `${place} must be a directory: remove it`)
      }
    })
  )
})
