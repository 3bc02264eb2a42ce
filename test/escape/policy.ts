/** What a sandbox writes today, and what the next one makes of it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Attack, type Scene, scene, together } from "../support/escape/Attack.js"
import { type Places, type Setup, snapshot, write } from "../support/escape/World.js"

interface Twice {
  readonly title: string
  /** Done inside, before a new sandbox is made. */
  readonly first: (places: Places) => string
  /** Tried in that one. */
  readonly next: Attack["script"]
}

const twice = (
  ground: string,
  title: string,
  setup: Setup,
  list: ReadonlyArray<Twice>,
  more: ReadonlyArray<Scene> = []
) =>
  together(ground, title, { ...setup, earlier: (places) => list.map(({ first }) => `(${first(places)})`).join("\n") }, [
    ...list.map(({ next, title }) => ({ title, script: next })),
    ...more
  ])

const linked = (path: string) => (places: Places) => {
  write(`${places.project}/dot/sandbox.json`, '{ "policy": { "filesystem": { "blacklist": ["**/README"] } } }')
  Fs.symlinkSync("dot/sandbox.json", `${places.project}/link.json`)
  Fs.rmSync(`${places.home}/.synapse/sandbox.json`)
  Fs.symlinkSync(`${places.project}/${path}`, `${places.home}/.synapse/sandbox.json`)
}

/** In the world of the kernel's attacks: its namespaces. */
export const sharedMemory: Scene = {
  title: "shared memory of the host is not there",
  needs: ["ipcmk", "ipcs", "ipcrm"],
  test: ({ attack }) =>
    Effect.gen(function* () {
      const made = ChildProcess.execFileSync("ipcmk", ["-M", "64"], { encoding: "utf8" })
      const id = /\d+/.exec(made)?.[0] ?? ""
      const { stdout } = yield* attack(`ipcs -m | grep -w ${id} && echo BREACH; ipcrm -m ${id} && echo BREACH; true`)
      assert.notInclude(stdout, "BREACH")
      ChildProcess.execFileSync("ipcrm", ["-m", id])
    })
}

const startedBy: Scene = {
  title: "the file that servers are started by, unsandboxed, is not changed",
  test: ({ attack, project }) =>
    Effect.gen(function* () {
      const said = yield* attack(
        "echo x > mcp_servers.json; echo x >> mcp_servers.json; echo y > n; mv -f n mcp_servers.json; rm -f mcp_servers.json; mv mcp_servers.json m; ln -sf n mcp_servers.json; truncate -s0 mcp_servers.json; sed -i s/x/y/ mcp_servers.json"
      )
      assert.match(said.stderr, /Read-only[\s\S]*busy/)
      assert.strictEqual(Fs.readFileSync(`${project}/mcp_servers.json`, "utf8"), "{}")
      assert.strictEqual(Fs.lstatSync(`${project}/mcp_servers.json`).nlink, 1)
    })
}

const ended: Scene = {
  title: "a shell that ended itself is followed by one that is held as well",
  test: ({ attack, execute, manager, secret }) =>
    Effect.gen(function* () {
      for (const ending of ["exit 3", "kill -9 $$", "exec true"]) {
        yield* Effect.exit(manager.execute(ending))
        yield* Effect.sleep(50)
        const said = yield* attack("cat pkg/.env; echo x > ../outside/new")
        assert.notInclude(said.stdout, secret)
        assert.match(said.stderr, /Permission denied[\s\S]*Read-only/)
      }
      assert.strictEqual((yield* execute("echo on")).stdout, "on\n")
    })
}

const worked: Scene = {
  title: "a project that would hold the policy can be worked in",
  test: ({ attack, project }) =>
    Effect.gen(function* () {
      const said = yield* attack("echo x > file && mkdir d; echo x > .synapse/sandbox.json")
      assert.match(said.stderr, /Read-only/)
      assert.strictEqual(Fs.readFileSync(`${project}/file`, "utf8"), "x\n")
      assert.deepStrictEqual(Fs.readdirSync(`${project}/.synapse`), ["places", "tmp", "tool-cache"])
    })
}

export const policy = (ground: string): void => {
  scene(
    ground,
    "entries of the whitelist that were led elsewhere are not followed",
    {
      prepare: ({ project }) => write(`${project}/sub/file`, "x"),
      whitelist: ({ project }) => [`${project}/sub`, `${project}/absent`, `${project}/deep/er`],
      earlier: ({ outside }) =>
        `rm -rf sub; ln -s ${outside} sub; ln -s ${outside} absent; mkdir deep; ln -s ${outside} deep/er`
    },
    ({ manager, outside }) =>
      Effect.gen(function* () {
        const before = snapshot(outside)
        const ended = yield* Effect.flip(manager.execute("for d in sub absent deep/er; do echo x > $d/new; done"))
        assert.match(ended.message, /sub is a symbolic link/)
        assert.deepStrictEqual(snapshot(outside), before)
      }).pipe(Effect.orDie)
  )
  twice(
    ground,
    "rules",
    {
      prepare: ({ project, secret }) => {
        write(`${project}/a/b/key`, secret)
        write(`${project}/there/.env`, secret)
        write(`${project}/mcp_servers.json`, "{}")
      },
      blacklist: ({ project }) => [`${project}/a/b/key`]
    },
    [
      {
        title: "a parent that was renamed does not lose a literal rule",
        first: () => "mv a/b a/c; mv a c; rm -rf a; mkdir -p a/b; ln -s ../../c/b/key a/b/key",
        next: "cat a/b/key a/c/key c/b/key; true"
      },
      {
        title: "a glob's directory that was renamed is found again",
        first: () => "mv there elsewhere",
        next: "cat elsewhere/.env there/.env; true"
      },
      {
        title: "a link with a blacklisted name does not take the mask from what was meant",
        first: () => "mkdir trap; ln -s / trap/.env; ln -s ../pkg/.env trap/.envrc; ln -s .. trap/secrets.json",
        next: "cat .env pkg/.env; true"
      }
    ],
    [startedBy, ended]
  )
  twice(ground, "a policy that is a link into the project", { prepare: linked("dot/sandbox.json") }, [
    {
      title: "is held where it lies",
      first: () =>
        "echo '{\"enabled\":false}' > dot/sandbox.json; mv dot d2; mkdir dot; echo '{\"enabled\":false}' > dot/sandbox.json",
      next: ({ outside }) => `cat README && echo x > ${outside}/new; true`
    }
  ])
  scene(
    ground,
    "a policy that is a link to a link in the project is refused: it could be led elsewhere",
    { prepare: linked("link.json") },
    ({ manager }) =>
      Effect.gen(function* () {
        const ended = yield* Effect.either(manager.execute("true"))
        const said = ended._tag === "Left" ? ended.left.message : "it ran"
        assert.match(said, /link\.json, which commands may write/)
      })
  )
  twice(ground, "a policy that does not exist yet", { synapseHome: ({ project }) => `${project}/own/.synapse` }, [
    {
      title: "can't be made from inside",
      first: () =>
        "mkdir -p own/.synapse; echo '{\"enabled\":false}' > own/.synapse/sandbox.json; mv own own2; mkdir -p own/.synapse; echo '{\"enabled\":false}' > own/.synapse/sandbox.json",
      next: ({ outside }) => `cat own/.synapse/sandbox.json; echo x > ${outside}/new; cat pkg/.env; true`
    }
  ])
  twice(
    ground,
    "a policy whose directory would lie in the project itself",
    { synapseHome: ({ project }) => `${project}/.synapse` },
    [
      {
        title: "can't be made from inside",
        first: () =>
          "mkdir .synapse; echo '{\"enabled\":false}' > .synapse/sandbox.json; mv .synapse x; ln -s x .synapse; rm -rf .synapse; echo '{\"enabled\":false}' > .synapse/sandbox.json",
        next: ({ outside }) => `cat .synapse/sandbox.json; echo x > ${outside}/new; cat pkg/.env; true`
      }
    ],
    [worked]
  )
}
