/** What is kept from commands without a rule of the user's: Synapse's own files, usual secrets, and caches of code. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Url from "node:url"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Attack, scene, together } from "../support/escape/Attack.js"
import { type Places, write } from "../support/escape/World.js"

/** Files that Synapse, editors and backups leave beside its own. */
const own = [
  "history settings.json~ .settings.json.swp settings.json.bak .settings.json.new #settings.json# mcp/mcp_servers.json",
  "mcp/mcp_servers.json.bak mcp/.mcp_servers.json.new mcp/oauth/0.json cache/mcp/tools snapshots/0/HEAD agents/a.md old/deep/key"
].flatMap((line) => line.split(" "))

const ownAttacks = (home: (places: Places) => string): ReadonlyArray<Attack> =>
  (
    [
      ["by their names", own.map((name) => `cat 'H/${name}'`).join("; ")],
      ["by a search", "find H -type f -exec cat {} +; grep -rs s3cr3t H H/.; cat H/* H/.[!.]* H/*/*"],
      ["by links, old and new", "cat way/history; ln -s H new; cat new/history; ln H/history hard; cat hard"],
      [
        "by a copy",
        "cp -r H copy; tar cf - -C H . | tar xf -; cat copy/history history; find copy -type f -exec cat {} +"
      ],
      [
        "by another way to them",
        "cd H; cat history ./mcp/../history; cat /proc/self/root/H/history /proc/self/cwd/history"
      ],
      ["by a new name", "mv H moved; mv -T H/.. up; cat moved/history up/.synapse/history"]
    ] as const
  ).map(([title, script]) => ({
    title,
    script: (places) => script.replaceAll("H", home(places)),
    says: /No such file|Permission denied|busy|Read-only/
  }))

/** Usual secrets in a home and in a project, in other cases and places too. */
const usual: ReadonlyArray<readonly [title: string, inHome: string, inProject: string]> = [
  [
    "keys",
    ".ssh/id_ed25519 .gnupg/private-keys-v1.d/0.key .config/age/keys.txt",
    "server.key certs/Deep/tls.PEM ID_RSA x/id_ecdsa"
  ],
  ["environments", ".config/op/config", ".env.production pkg/a/.ENV .Env.Local web/.env.staging.local .env~"],
  [
    "credentials",
    ".netrc .git-credentials .pgpass .kube/config .config/gh/hosts.yml .pypirc .vault-token",
    "credentials.json a/Secrets.json b/.Netrc"
  ],
  [
    "keys of agents",
    ".claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json",
    ".git-credentials c/.pypirc"
  ],
  ["settings", ".npmrc .docker/config.json .yarnrc.yml .m2/settings.xml", ".npmrc d/.yarnrc.yml"],
  ["what was typed", ".bash_history .zsh_history .python_history .viminfo", "e/.env"]
]

const words = (text: string) => text.split(" ")

const usualAttacks = usual.map(([title, inHome, inProject]): Attack => {
  const paths = [...words(inHome).map((name) => `$h/${name}`), ...words(inProject)].map((path) => `"${path}"`).join(" ")
  return {
    title,
    script: ({ home }) =>
      `h=${home}; for f in ${paths}; do cat "$f"; base64 "$f" | base64 -d; cp "$f" copied; cat copied; ln "$f" linked; cat linked; cat < "$f"; done`,
    says: /Permission denied/
  }
})

/** Directories in which programs outside look for code that they have compiled, or unpacked. */
const caches = words(
  "$TMPDIR /tmp /var/tmp ~/.cache $XDG_CACHE_HOME ~/.npm ~/.config ~/.local/share ~/.node_modules /usr/local/lib/node_modules"
)
const code = words(
  "node-compile-cache/v22/0 jiti/a.cjs tsx-0/b v8-compile-cache/c __pycache__/d.pyc pip/e matplotlib/f"
)

const planting: ReadonlyArray<Attack> = caches.map((directory) => ({
  title: directory,
  script: ({ mark }) =>
    code.map((name) => `mkdir -p ${directory}/${Path.dirname(name)}; echo ${mark} > ${directory}/${name}`).join("\n"),
  after: ({ base, mark }) =>
    Effect.sync(() => {
      for (const outside of ["/tmp", "/var/tmp", "/usr/local/lib/node_modules", `${base}/tmp`]) {
        for (const name of code) {
          const text = Fs.existsSync(`${outside}/${name}`) ? Fs.readFileSync(`${outside}/${name}`, "utf8") : ""
          assert.notInclude(text, mark)
        }
      }
    })
}))

const program = Url.fileURLToPath(new URL("../../dist/bin/synapse.cjs", import.meta.url))

/** Homes that an earlier session's commands have filled, and how the next session comes to them. */
const forged: ReadonlyArray<readonly [title: string, variables: (places: Places) => Record<string, string>]> = [
  ["SYNAPSE_HOME", ({ project }) => ({ SYNAPSE_HOME: `${project}/.synapse` })],
  ["a link to it", ({ base }) => ({ SYNAPSE_HOME: `${base}/way/.synapse` })],
  ["a link of the command's", ({ project }) => ({ SYNAPSE_HOME: `${project}/out` })],
  ["HOME", ({ project }) => ({ HOME: project, SYNAPSE_HOME: "" })],
  ["a relative HOME", () => ({ HOME: ".", SYNAPSE_HOME: "" })]
]

const prepareOwn = (home: (places: Places) => string, places: Places) => {
  for (const name of own) write(`${home(places)}/${name}`, places.secret)
  Fs.symlinkSync(home(places), `${places.project}/way`)
}

export const secrets = (ground: string): void => {
  const inHome = ({ home }: Places) => `${home}/.synapse`
  const prepare = (places: Places) => {
    const { base, home, project, secret } = places
    prepareOwn(inHome, places)
    Fs.mkdirSync(`${base}/tmp`)
    for (const [, inHome, inProject] of usual) {
      for (const name of words(inHome)) write(`${home}/${name}`, `token=${secret}\n`)
      for (const name of words(inProject)) write(`${project}/${name}`, `token=${secret}\n`)
    }
  }
  together(
    ground,
    "without a rule of the user's",
    { prepare, temporary: ({ base }) => `${base}/tmp` },
    {
      "Synapse's own files are read": ownAttacks(inHome),
      "usual secrets are read": usualAttacks,
      "code is put where programs outside look for it:": planting
    }
  )
  const inProject = ({ project }: Places) => `${project}/.synapse`
  together(
    ground,
    "Synapse's own files in the project are read",
    { synapseHome: inProject, prepare: (places) => prepareOwn(inProject, places) },
    ownAttacks(inProject)
  )
}

export const forgedHome = (ground: string): void =>
  scene(
    ground,
    "a home that commands have filled grants nothing, however the next session comes to it",
    {},
    (world) =>
      Effect.gen(function* () {
        const { base, home, outside, project } = world
        const run = (command: string, variables: Record<string, string>) =>
          Effect.async<string>((resume) => {
            const env = { PATH: process.env["PATH"], HOME: home, SYNAPSE_HOME: `${home}/.synapse`, ...variables }
            const args = [program, "exec", command]
            ChildProcess.execFile(process.execPath, args, { cwd: project, env }, (_, stdout, stderr) =>
              resume(Effect.succeed(`${stdout}\n${stderr}`))
            )
          })
        const servers = { mcpServers: { own: { command: "/bin/sh", args: ["-c", `touch ${outside}/pwned`] } } }
        const planted = yield* run(
          `for d in .synapse deep/er; do mkdir -p $d/mcp; echo '{"enabled":false}' > $d/sandbox.json
             echo '${JSON.stringify(servers)}' > $d/mcp/mcp_servers.json; done; ln -s deep/er out; ls out`,
          {}
        )
        assert.match(planted, /sandbox\.json/)
        Fs.symlinkSync(project, `${base}/way`)
        const isOff = /^Seccomp:\t0$/m
        for (const [title, variables] of forged) {
          const said = yield* run("grep Seccomp: /proc/self/status; mcp:own:x; echo", variables(world))
          assert.match(said, /^Seccomp:\t2$|SYNAPSE_TRUSTED_HOME/m, title)
          assert.notMatch(said, isOff, title)
          assert.isFalse(Fs.existsSync(`${outside}/pwned`), title)
        }
        // Where commands could not write, the same takes effect.
        Fs.cpSync(`${project}/deep/er`, `${outside}/home`, { recursive: true })
        assert.match(yield* run("grep Seccomp: /proc/self/status", { SYNAPSE_HOME: `${outside}/home` }), isOff)
      }),
    Fs.existsSync(program) ? undefined : "the program is not built"
  )
