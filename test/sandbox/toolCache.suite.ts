/** The caches of tools and unix sockets, in this machine's own sandbox: what they allow, and to whom. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PolicyBuilder from "../../src/sandbox/config/PolicyBuilder.js"
import * as SubPolicy from "../../src/sandbox/policy/SubPolicy.js"
import { type Manager, type Place, sandboxedOn } from "../support/sandbox/LocalApp.js"

const socket = `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(); print("made")'`
const hasPython = ChildProcess.spawnSync("python3", ["--version"]).status === 0

/** Runs a command under a `sandbox.json`. */
const withFile =
  (policy: object, command: string) =>
  ({ execute }: Manager, { outside }: Place) => {
    Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy }))
    return execute(command)
  }

export const toolCache = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    it.live("are kept from session to session, of one directory alone", () =>
      sandboxed(({ execute, restart }, { outside, project }) =>
        Effect.gen(function* () {
          const mine = PolicyBuilder.toolCacheOf(`${outside}/home`, Fs.realpathSync(project))
          assert.strictEqual(
            (yield* execute('echo "$PIP_CACHE_DIR"')).stdout,
            `${Fs.realpathSync(outside)}/home/tool-cache/${mine.split("/").at(-1)}/pip\n`
          )
          yield* execute('mkdir -p "$PIP_CACHE_DIR"; echo kept >"$PIP_CACHE_DIR/x"; chmod 000 "$PIP_CACHE_DIR/.."')
          yield* restart
          const kept = yield* execute('cat "$PIP_CACHE_DIR/x"')
          assert.deepStrictEqual([kept.stdout, kept.stderr], ["kept\n", ""])
          Fs.mkdirSync(`${outside}/home/tool-cache/other`)
          const denied = [
            `touch ${outside}/home/tool-cache/x`,
            `touch ${outside}/home/tool-cache/other/x`,
            `touch ${outside}/home/x`,
            'rmdir "$PIP_CACHE_DIR/.."',
            `mv "$PIP_CACHE_DIR/.." ${outside}/home/tool-cache/moved`,
            `mkdir -p "$PIP_CACHE_DIR"; ln -sfn ${outside} "$PIP_CACHE_DIR/l"; touch "$PIP_CACHE_DIR/l/x"`,
            `ln ${outside}/user/.ssh/id_rsa "$PIP_CACHE_DIR/l"`,
            `cp ${outside}/user/.ssh/id_rsa "$PIP_CACHE_DIR/k"`
          ]
          for (const command of denied) {
            const status = yield* Effect.merge(Effect.map(execute(command), ({ exitCode }) => exitCode))
            assert.notStrictEqual(status, 0, command)
          }
          assert.deepStrictEqual(Fs.readdirSync(outside).sort(), ["home", "project", "user"])
          assert.deepStrictEqual(
            Fs.readdirSync(`${outside}/home/tool-cache`).sort(),
            [mine.split("/").at(-1), "other"].sort()
          )
        })
      )
    )

    it.live("are none where sandbox.json says so, or the blacklist hides them", () =>
      Effect.gen(function* () {
        const told = 'echo "[${PIP_CACHE_DIR-}]"'
        const off = yield* sandboxed(withFile({ toolCache: false }, told))
        assert.strictEqual(off.stdout, "[]\n")
        const hidden = yield* sandboxed(({ execute }) => execute(told), {}, ["**/tool-cache"])
        assert.strictEqual(hidden.stdout, "[]\n")
      })
    )

    it.live.skipIf(!hasPython)("unix sockets work for who allows them, and for nobody else", () =>
      Effect.gen(function* () {
        const denied = yield* sandboxed(({ execute }) => execute(socket))
        assert.deepStrictEqual([denied.stdout, denied.blockedRule], ["", "no unix sockets"])
        const allowed = yield* sandboxed(withFile({ unixSockets: true }, socket))
        assert.deepStrictEqual([allowed.stdout, allowed.exitCode], ["made\n", 0])
      })
    )

    it("are none under a policy that only reads, nor are unix sockets", () => {
      const { toolCache: cache, unixSockets } = SubPolicy.readOnly(
        {
          cwd: "/p",
          whitelist: [],
          blacklist: [],
          readonly: [],
          allowNetwork: false,
          unixSockets: true,
          toolCache: { pattern: "/c", path: "/c", kind: "path", source: "cache" }
        },
        ["/tmp"]
      )
      assert.deepStrictEqual([cache, unixSockets], [undefined, undefined])
    })
  })
}
