/** What a sandbox writes today, and what the next one makes of it. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { scene } from "../support/escape/Attack.js"
import { type Setup, type Shape, snapshot, write } from "../support/escape/World.js"

/** Something is done inside, then a new sandbox is made, and something is tried in that one; nothing outside changes. */
const twice = (
  ground: string,
  title: string,
  setup: Setup,
  first: (world: Shape) => string,
  then: (world: Shape) => string
) =>
  scene(ground, title, setup, (world) =>
    Effect.gen(function* () {
      const before = [...snapshot(world.outside), ...snapshot(world.home)]
      yield* world.attack(first(world))
      yield* world.manager.shutdown
      const script = `${world.project}/.attacks/then.sh`
      write(script, then(world))
      const said = yield* Effect.either(world.manager.execute(`cd ${world.project} && bash .attacks/then.sh`))
      assert.notInclude(JSON.stringify(said), world.secret)
      assert.deepStrictEqual([...snapshot(world.outside), ...snapshot(world.home)], before)
    })
  )

export const policy = (ground: string): void => {
  describe("from one sandbox to the next", () => {
    twice(
      ground,
      "an entry of the whitelist that was led elsewhere is not followed",
      {
        prepare: ({ project }) => write(`${project}/sub/file`, "x"),
        whitelist: ({ project }) => [`${project}/sub`, `${project}/absent`, `${project}/deep/er`]
      },
      ({ outside }) =>
        `rm -rf sub; ln -s ${outside} sub; ln -s ${outside} absent; mkdir deep; ln -s ${outside} deep/er`,
      () => "for d in sub absent deep/er; do echo x > $d/new; echo x > $d/file; done"
    )
    twice(
      ground,
      "a parent that was renamed does not lose a literal rule",
      {
        prepare: ({ project, secret }) => write(`${project}/a/b/key`, secret),
        blacklist: ({ project }) => [`${project}/a/b/key`]
      },
      () => "mv a/b a/c; mv a c; rm -rf a; mkdir -p a/b; ln -s ../../c/b/key a/b/key",
      () => "cat a/b/key a/c/key c/b/key; true"
    )
    twice(
      ground,
      "a glob's directory that was renamed is found again",
      {},
      () => "mv pkg elsewhere",
      () => "cat elsewhere/.env pkg/.env; true"
    )
    twice(
      ground,
      "a link with a blacklisted name does not take the mask from what was meant",
      {},
      () => "mkdir trap; ln -s / trap/.env; ln -s ../pkg/.env trap/.envrc; ln -s .. trap/secrets.json",
      () => "cat .env pkg/.env; true"
    )
    twice(
      ground,
      "a policy that is a link into the project is held where it lies",
      {
        prepare: ({ home, project }) => {
          write(`${project}/dot/sandbox.json`, '{ "policy": { "filesystem": { "blacklist": ["**/README"] } } }')
          Fs.rmSync(`${home}/.synapse/sandbox.json`)
          Fs.symlinkSync(`${project}/dot/sandbox.json`, `${home}/.synapse/sandbox.json`)
        }
      },
      () =>
        "echo '{\"enabled\":false}' > dot/sandbox.json; mv dot d2; mkdir dot; echo '{\"enabled\":false}' > dot/sandbox.json",
      ({ outside }) => `cat README && echo x > ${outside}/new; true`
    )
    scene(
      ground,
      "a policy that is a link to a link in the project is refused: it could be led elsewhere",
      {
        prepare: ({ home, project }) => {
          write(`${project}/dot/sandbox.json`, '{ "policy": { "filesystem": { "blacklist": ["**/README"] } } }')
          Fs.symlinkSync("dot/sandbox.json", `${project}/link.json`)
          Fs.rmSync(`${home}/.synapse/sandbox.json`)
          Fs.symlinkSync(`${project}/link.json`, `${home}/.synapse/sandbox.json`)
        }
      },
      ({ manager }) =>
        Effect.gen(function* () {
          const ended = yield* Effect.either(manager.execute("true"))
          const said = ended._tag === "Left" ? ended.left.message : "it ran"
          assert.match(said, /link\.json, which commands may write/)
        })
    )
    twice(
      ground,
      "a policy that does not exist yet can't be made from inside",
      {
        synapseHome: ({ project }) => `${project}/own/.synapse`
      },
      () =>
        "mkdir -p own/.synapse; echo '{\"enabled\":false}' > own/.synapse/sandbox.json; mv own own2; mkdir -p own/.synapse; echo '{\"enabled\":false}' > own/.synapse/sandbox.json",
      ({ outside }) => `cat own/.synapse/sandbox.json; echo x > ${outside}/new; cat pkg/.env; true`
    )
    twice(
      ground,
      "a policy whose directory would lie in the project itself can't be made from inside",
      {
        synapseHome: ({ project }) => `${project}/.synapse`
      },
      () =>
        "mkdir .synapse; echo '{\"enabled\":false}' > .synapse/sandbox.json; mv .synapse x; ln -s x .synapse; rm -rf .synapse; echo '{\"enabled\":false}' > .synapse/sandbox.json",
      ({ outside }) => `cat .synapse/sandbox.json; echo x > ${outside}/new; cat pkg/.env; true`
    )
    scene(
      ground,
      "a project that would hold the policy can be worked in",
      { synapseHome: ({ project }) => `${project}/.synapse` },
      ({ attack, project }) =>
        Effect.gen(function* () {
          const said = yield* attack("echo x > file && mkdir d; echo x > .synapse/sandbox.json")
          assert.match(said.stderr, /Read-only/)
          assert.strictEqual(Fs.readFileSync(`${project}/file`, "utf8"), "x\n")
          assert.deepStrictEqual(Fs.readdirSync(`${project}/.synapse`), ["places", "tmp", "tool-cache"])
        })
    )
    scene(
      ground,
      "the file that servers are started by, unsandboxed, is not changed",
      { prepare: ({ project }) => write(`${project}/mcp_servers.json`, "{}") },
      ({ attack, project }) =>
        Effect.gen(function* () {
          const said = yield* attack(
            "echo x > mcp_servers.json; echo x >> mcp_servers.json; echo y > n; mv -f n mcp_servers.json; rm -f mcp_servers.json; mv mcp_servers.json m; ln -sf n mcp_servers.json; truncate -s0 mcp_servers.json; sed -i s/x/y/ mcp_servers.json"
          )
          assert.match(said.stderr, /Read-only[\s\S]*busy/)
          assert.strictEqual(Fs.readFileSync(`${project}/mcp_servers.json`, "utf8"), "{}")
          assert.strictEqual(Fs.lstatSync(`${project}/mcp_servers.json`).nlink, 1)
        })
    )
    scene(
      ground,
      "LIMIT: the file that servers are started by can be made where there is none (and is not trusted: see servers)",
      {},
      ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("echo '{}' > mcp_servers.json")
          assert.isTrue(Fs.existsSync(`${project}/mcp_servers.json`))
        })
    )
    scene(
      ground,
      "LIMIT: a file of the project that has another name outside is written under both",
      { prepare: ({ outside, project }) => Fs.linkSync(`${outside}/file`, `${project}/shared`) },
      ({ attack, outside }) =>
        Effect.gen(function* () {
          yield* attack("echo changed > shared")
          assert.strictEqual(Fs.readFileSync(`${outside}/file`, "utf8"), "changed\n")
        })
    )
    scene(ground, "shared memory of the host is not there", { needs: ["ipcmk", "ipcs", "ipcrm"] }, ({ attack }) =>
      Effect.gen(function* () {
        const made = ChildProcess.execFileSync("ipcmk", ["-M", "64"], { encoding: "utf8" })
        const id = /\d+/.exec(made)?.[0] ?? ""
        const { stdout } = yield* attack(`ipcs -m | grep -w ${id} && echo BREACH; ipcrm -m ${id} && echo BREACH; true`)
        assert.notInclude(stdout, "BREACH")
        ChildProcess.execFileSync("ipcrm", ["-m", id])
      })
    )
    scene(
      ground,
      "a shell that ended itself is followed by one that is held as well",
      {},
      ({ attack, execute, manager, secret }) =>
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
    )
  })
}
