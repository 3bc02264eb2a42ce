/** What sandboxed commands try in order to have a program of theirs started outside, as an MCP server. */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as OwnFile from "../../src/extension/mcp/OwnFile.js"
import * as ServerFile from "../../src/extension/mcp/ServerFile.js"
import * as TrustFile from "../../src/extension/mcp/TrustFile.js"
import { scene, together } from "../support/escape/Attack.js"
import { seesCheckout } from "../support/escape/Ground.js"
import { type Places, type Shape, snapshot, write } from "../support/escape/World.js"
import * as Servers from "../support/extension/Servers.js"

const evil = JSON.stringify({ mcpServers: { evil: { command: "/bin/sh", args: ["-c", "touch pwned"] } } })
const good = JSON.stringify({ mcpServers: { good: { command: "node", args: ["server.js"] } } })

/** A server with one tool, in which nothing is loaded besides. */
const program = `import { createInterface } from "node:readline"
const tools = [{ name: "hi", inputSchema: { type: "object" } }]
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "good" }] })
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }))
})
`

const statesIn = ({ home, project, temporary }: Places, synapseHome: string) =>
  Effect.scoped(
    Effect.flatMap(Servers.open({ cwd: project, home: synapseHome, userHome: home, temporary }), ({ config }) =>
      Effect.map(config.entries, Servers.states)
    )
  )

/** Tries every way to put other content into the files of `$SYNAPSE_HOME`. */
const assault = (dir: string, project: string): string => {
  const trust = JSON.stringify({ trusted: { [`${project}/mcp_servers.json`]: OwnFile.hash(evil) } })
  return [
    `mkdir -p ${dir}/mcp ${dir}/cache`,
    `echo '${evil}' > ${dir}/mcp/mcp_servers.json`,
    `echo '${trust}' > ${dir}/mcp/trust.json`,
    `echo '${evil}' > e; cp -f e ${dir}/mcp/mcp_servers.json; mv -f e ${dir}/mcp/mcp_servers.json`,
    `ln -s x ${dir}/mcp/trust.json.lock; echo x > ${dir}/mcp/.trust.json.new`,
    `mkdir m; echo '${evil}' > m/mcp_servers.json; echo '${trust}' > m/trust.json`,
    `mv -T ${dir}/mcp ${dir}/old; rm -rf ${dir}/mcp; ln -sfn ${project}/m ${dir}/mcp; mv m ${dir}/mcp`,
    `echo x > ${dir}/cache/tools; rm -rf ${dir}/cache; ln -s /tmp ${dir}/cache`,
    `mv -T ${dir} ${project}/moved; ln -s ${project}/m ${dir}`,
    `echo '${evil}' > mcp_servers.json`
  ].join("\n")
}

const filled = (dir: string, { project }: Places): void => {
  write(`${dir}/mcp/mcp_servers.json`, '{"mcpServers":{"mine":{"url":"https://e.example"}}}')
  write(`${dir}/mcp/trust.json`, JSON.stringify({ trusted: { [`${project}/other`]: OwnFile.hash("x") } }))
  write(`${dir}/cache/tools`, "{}")
}

const homes: ReadonlyArray<readonly [title: string, home: (places: Places) => string]> = [
  ["outside", ({ home }) => `${home}/.synapse`],
  ["below the working directory", ({ project }) => `${project}/.synapse`],
  ["below a directory that may be written", ({ outside }) => `${outside}/.synapse`]
]

const untrusted = /^untrusted: .*mcp_servers\.json is not trusted yet/

const trustingIn = ({ home, project }: Places, names: ReadonlyArray<string>) => {
  const paths = names.map((name) => `${project}/${name}`)
  const trusted = Object.fromEntries(paths.map((path) => [path, OwnFile.hash(Fs.readFileSync(path))]))
  write(TrustFile.pathIn(`${home}/.synapse`), JSON.stringify({ trusted }))
}
const trusting = (world: Shape) => trustingIn(world, ["mcp_servers.json", "server.js"])
const prepare = ({ project }: Places) => {
  write(`${project}/mcp_servers.json`, good)
  write(`${project}/server.js`, "1")
}

const running = (world: Places) => {
  write(`${world.project}/sub/one.mjs`, program)
  write(`${world.project}/other/real/two.mjs`, program)
  Fs.symlinkSync("real/two.mjs", `${world.project}/other/two.mjs`)
  const node = (file: string) => ({ command: process.execPath, args: [file] })
  write(`${world.project}/dist/index.js`, program)
  const servers = {
    one: node("sub/one.mjs"),
    two: node("other/two.mjs"),
    late: node("late.mjs"),
    ending: node("dist/index"),
    module: { command: "python3", args: ["-m", "planted"] },
    task: { command: "npm", args: ["start"] },
    here: { command: "npx", args: ["tool"], cwd: "." }
  }
  write(`${world.project}/mcp_servers.json`, JSON.stringify({ mcpServers: servers }))
  trustingIn(world, ["mcp_servers.json", "sub/one.mjs", "other/two.mjs"])
}
const tool = ({ home }: Places) => `${home}/tool`
const caching = (world: Places) => {
  const servers = {
    cached: { command: process.execPath, args: [`${tool(world)}/server.mjs`] },
    tool: { command: "tool", env: { PATH: `${world.project}/bin:/usr/bin` } }
  }
  write(`${world.home}/.synapse/mcp/mcp_servers.json`, JSON.stringify({ mcpServers: servers }))
  if (!seesCheckout()) return
  Fs.cpSync("node_modules/jiti", `${tool(world)}/jiti`, { recursive: true })
  write(`${tool(world)}/answer.ts`, 'export const answer: string = "good"\n')
  const load =
    'import { createJiti } from "./jiti/lib/jiti.mjs"\nconst { answer } = await createJiti(import.meta.url).import("./answer.ts")\n'
  write(`${tool(world)}/warm.mjs`, `${load}console.log(answer)\n`)
  const off = '["NODE_DISABLE_COMPILE_CACHE", "DISABLE_V8_COMPILE_CACHE", "TSX_DISABLE_CACHE"]'
  const said = `[answer, process.env.TMPDIR, ...${off}.filter((name) => !process.env[name])].join(" ")`
  write(`${tool(world)}/server.mjs`, load + program.replace('"good"', said))
}

export const servers = (ground: string): void => {
  describe("servers outside of the sandbox", () => {
    for (const [title, synapseHome] of homes) {
      const whitelist = ({ outside }: Places) => [outside]
      scene(
        ground,
        `Synapse's own directory is not changed where it is ${title}`,
        { synapseHome, whitelist, prepare: (places) => filled(synapseHome(places), places) },
        (world) =>
          Effect.gen(function* () {
            const dir = synapseHome(world)
            const before = [...snapshot(`${dir}/mcp`), ...snapshot(`${dir}/cache`)]
            const said = yield* world.attack(assault(dir, world.project))
            assert.match(said.stderr, /Read-only/)
            assert.deepStrictEqual([...snapshot(`${dir}/mcp`), ...snapshot(`${dir}/cache`)], before)
            const { evil, mine, ...others } = yield* statesIn(world, dir)
            assert.deepStrictEqual([mine, others], ["ready", {}])
            if (evil !== undefined) assert.match(evil, untrusted)
          })
      )
      scene(
        ground,
        `nothing is put into Synapse's own directory where it is ${title}, and empty`,
        { synapseHome, whitelist },
        (world) =>
          Effect.gen(function* () {
            const dir = synapseHome(world)
            yield* world.attack(assault(dir, world.project))
            assert.isFalse(Fs.existsSync(`${dir}/mcp`) || Fs.existsSync(`${dir}/cache`))
            const { evil, ...others } = yield* statesIn(world, dir)
            assert.deepStrictEqual(others, {})
            if (evil !== undefined) assert.match(evil, untrusted)
          })
      )
    }
    scene(
      ground,
      "Synapse's own directory for servers is not followed as a link",
      {
        prepare: ({ home, project }) => {
          write(`${project}/m/mcp_servers.json`, good)
          Fs.symlinkSync(`${project}/m`, `${home}/.synapse/mcp`)
        }
      },
      (world) =>
        Effect.gen(function* () {
          yield* world.attack(`echo '${evil}' > m/mcp_servers.json`)
          const states = Object.values(yield* statesIn(world, `${world.home}/.synapse`))
          assert.strictEqual(states.length, 1)
          assert.match(states[0] ?? "", /is a symbolic link, which is not followed here/)
        })
    )
    together(ground, "trusted", { prepare }, [
      {
        title: "a trusted program that is rewritten is not started",
        test: (world) =>
          Effect.gen(function* () {
            const home = `${world.home}/.synapse`
            // Its sandbox is there before: a later one would hold the file.
            yield* world.attack("true")
            trusting(world)
            assert.deepStrictEqual(yield* statesIn(world, home), { good: "ready" })
            yield* world.attack(
              "touch -r server.js t; echo 2 > server.js; truncate -s1 server.js; touch -r t server.js"
            )
            assert.match((yield* statesIn(world, home))["good"] ?? "", /^untrusted: .*server\.js has changed since/)
            yield* world.attack("rm server.js; printf 1 > real.js; ln -s real.js server.js")
            assert.match(
              (yield* statesIn(world, home))["good"] ?? "",
              /is reached by a symbolic link, .*server\.js, which commands can lead/
            )
            yield* world.attack("printf 2 > real.js")
            assert.match((yield* statesIn(world, home))["good"] ?? "", /^untrusted: .*server\.js has changed since/)
          })
      }
    ])
    const not = seesCheckout() ? undefined : "the checkout can't be read"
    together(ground, "while commands run", { prepare: running }, [
      {
        title: "a trusted program is not swapped between being looked at and being started",
        not,
        test: (world) =>
          Effect.gen(function* () {
            const swaps = ["sub/one.mjs", "other/two.mjs", "other/real/two.mjs"].flatMap((file) => [
              `for how in "cp" "cp --remove-destination" "mv -f" "ln -f" "ln -sfn"; do cp evil e; $how "$PWD/e" ${file} && echo BREACH; done`,
              `rm -f ${file} && echo BREACH; echo x >> ${file} && echo BREACH; truncate -s0 ${file} && echo BREACH`,
              `ln ${file} second && echo BREACH; exec 9<>${file} && echo BREACH`
            ])
            const { stderr, stdout } = yield* world.attack(
              [
                `echo 'require("fs").writeFileSync("pwned", "")' > evil`,
                ...swaps,
                "mv sub away && echo BREACH; mv other/real away && echo BREACH; mv other away && echo BREACH",
                // What runs on while the servers are started.
                "(while [ ! -e stop ]; do cp evil sub/one.mjs; cp good sub/one.mjs; done) 2>/dev/null >&2 &"
              ].join("\n")
            )
            assert.notInclude(stdout, "BREACH")
            assert.match(stderr, /Read-only|busy/)
            for (const name of ["one", "two"]) {
              const { content } = yield* Effect.orDie(world.mcp.call(name, "hi", {}))
              assert.deepStrictEqual(content, [{ type: "text", text: "good" }])
            }
            yield* world.attack("touch stop")
            assert.isFalse(Fs.existsSync(`${world.project}/pwned`))
          })
      },
      {
        title: "a program that is trusted while commands can write it is not started in this session",
        test: (world) =>
          Effect.gen(function* () {
            yield* world.attack("true")
            write(`${world.project}/late.mjs`, program)
            trustingIn(world, ["mcp_servers.json", "late.mjs", "sub/one.mjs"])
            const { message } = yield* Effect.orDie(Effect.flip(world.mcp.call("late", "hi", {})))
            assert.match(
              message,
              /late\.mjs: .*it was trusted or put there after this session began.*start a new session/
            )
            assert.deepInclude(yield* statesIn(world, `${world.home}/.synapse`), { late: "ready", one: "ready" })
            yield* world.attack("ln late.mjs second")
            const { late } = yield* statesIn(world, `${world.home}/.synapse`)
            assert.match(late ?? "", /^loose: .*late\.mjs has a second name/)
          })
      },
      {
        title: "what a server's words lead to by themselves is not started where commands may put it",
        test: (world) =>
          Effect.gen(function* () {
            yield* world.attack(
              [
                'printf \'require("fs").writeFileSync("pwned", "")\' > dist/index',
                'echo \'open("pwned", "w")\' > planted.py',
                'echo \'{"scripts":{"start":"touch pwned"}}\' > package.json',
                "mkdir -p node_modules/.bin; printf '#!/bin/sh\\ntouch pwned\\n' > node_modules/.bin/tool; chmod +x node_modules/.bin/tool"
              ].join("\n")
            )
            const { ending, here, module, task } = yield* statesIn(world, `${world.home}/.synapse`)
            assert.match(ending ?? "", /^untrusted: .*dist\/index is not trusted yet/)
            // These are started elsewhere, where commands can't put anything.
            assert.deepStrictEqual([module, task], ["ready", "ready"])
            assert.match(here ?? "", /^broken: commands decide what/)
            for (const name of ["ending", "here", "module", "task"]) {
              yield* Effect.orDie(Effect.flip(world.mcp.tools(name)))
            }
            yield* world.attack("rm dist/index")
            const { ending: missing } = yield* statesIn(world, `${world.home}/.synapse`)
            assert.match(
              missing ?? "",
              /^broken: there is no file dist\/index, .*name a file that exists, as node dist\/index\.js/
            )
            assert.isFalse(Fs.existsSync(`${world.project}/pwned`))
          })
      }
    ])
    together(ground, "a list of servers", {}, [
      {
        title: "is not trusted where it is made where none was, or beside it",
        test: (world) =>
          Effect.gen(function* () {
            const home = `${world.home}/.synapse`
            yield* world.attack(`echo '${evil}' > mcp_servers.json`)
            assert.match((yield* statesIn(world, home))["evil"] ?? "", untrusted)
            yield* world.attack(`rm -f mcp_servers.json; echo '${evil}' > m; ln -s m mcp_servers.json`)
            const linked = Object.values(yield* statesIn(world, home))
            assert.match(linked.join(), /symbolic link|not trusted/)
          })
      },
      {
        title: "is trusted with what this program has written only, where it edits it",
        test: (world) =>
          Effect.gen(function* () {
            const home = `${world.home}/.synapse`
            const file = `${world.project}/mcp_servers.json`
            const target = { path: file, isHome: false }
            write(`${world.project}/e`, evil)
            const swapping = `while [ ! -e stop ]; do cp e m; mv m mcp_servers.json; rm -f mcp_servers.json; done; touch ended`
            yield* world.attack(`rm -f m mcp_servers.json stop ended; (${swapping}) >/dev/null 2>&1 &`)
            for (let times = 0; times < 4; times++) {
              const adding = ServerFile.add(target, new Map([[`mine${times}`, { url: "https://e.example" }]]))
              yield* adding.pipe(
                Effect.flatMap((change) => (change === undefined ? Effect.void : TrustFile.keep(home, file, change))),
                Effect.ignore,
                Effect.provide(NodeFileSystem.layer)
              )
              const { evil } = yield* statesIn(world, home)
              if (evil !== undefined) assert.match(evil, /^untrusted/)
            }
            yield* world.attack("touch stop; until [ -e ended ]; do sleep 0.01; done")
            write(file, evil)
            assert.match((yield* statesIn(world, home))["evil"] ?? "", /^untrusted/)
          })
      }
    ])
    together(ground, "the user's own servers", { prepare: caching }, [
      {
        title: "a server takes no code out of the directory for temporary files, which commands may write",
        not,
        test: (world) =>
          Effect.gen(function* () {
            const policy = yield* Effect.orDie(world.manager.buildPolicy(world.project))
            const temporary = policy?.temporary?.path ?? ""
            yield* world.attack("true")
            // The cache as a program makes it that has no such variables.
            const env = { PATH: "/usr/bin:/bin", TMPDIR: temporary }
            const warm = () => execFileSync(process.execPath, [`${tool(world)}/warm.mjs`], { env, encoding: "utf8" })
            assert.strictEqual(warm(), "good\n")
            yield* world.attack('for f in $TMPDIR/jiti/*; do sed -i s/good/evil/ "$f"; done')
            assert.strictEqual(warm(), "evil\n")
            const { content } = yield* Effect.orDie(world.mcp.call("cached", "hi", {}))
            assert.deepStrictEqual(content, [{ type: "text", text: `good ${temporary}` }])
          })
      },
      {
        title: "a program that takes the place of one on the PATH is not started",
        test: (world) =>
          Effect.gen(function* () {
            yield* world.attack("mkdir bin; echo '#!/bin/sh' > bin/tool; chmod +x bin/tool")
            const { message } = yield* Effect.orDie(Effect.flip(world.mcp.tools("tool")))
            assert.match(message, /tool is .*\/bin\/tool, where any command can put one/)
          })
      }
    ])
  })
}
