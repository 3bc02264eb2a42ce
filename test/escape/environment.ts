/** What the launcher has and must not hand on: variables, descriptors, its own programs. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Url from "node:url"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Attack, scene, together } from "../support/escape/Attack.js"
import { type Places, write } from "../support/escape/World.js"

const hidden = ({ secret }: Places): Readonly<Record<string, string>> => ({
  FOO_TOKEN: secret,
  AWS_SECRET_ACCESS_KEY: secret,
  OPENAI_API_KEY: secret,
  NPM_CONFIG__AUTH: secret,
  DATABASE_URL: `postgres://user:${secret}@host/db`,
  PIP_INDEX_URL: `https://user:${secret}@host/simple`,
  SSH_AUTH_SOCK: `/run/${secret}`,
  PLAIN_WORD: secret,
  "BASH_FUNC_ls%%": `() { echo ${secret}; }`,
  GIT_ASKPASS: `/bin/${secret}`
})

const attacks: ReadonlyArray<Attack> = [
  { title: "env, export, declare, set", says: /PATH/, script: "env; export -p; declare -p; set; ls" },
  {
    title: "/proc/*/environ",
    says: /PATH/,
    script: "cat /proc/[0-9]*/environ /proc/self/task/*/environ | tr '\\0' '\\n'"
  },
  { title: "ps", needs: ["ps"], script: "ps auxeww; ps -efww" },
  { title: "perl's environment", needs: ["perl"], says: /PATH/, script: "perl -e 'print %ENV, \"\\n\"'" },
  {
    title: "python's environment",
    needs: ["python3"],
    says: /PATH/,
    script: "python3 -c 'import os; print(os.environ)'"
  },
  { title: "node's environment", needs: ["node"], says: /PATH/, script: "node -p process.env" },
  {
    title: "memory of the processes inside",
    script:
      "for p in /proc/[0-9]*; do cat $p/cmdline $p/auxv $p/stat; done 2>/dev/null | tr '\\0' ' ' | grep -a s3cr3t; true"
  },
  {
    title: "descriptors from 3 on belong to the session alone",
    says: /^0 1 2$/m,
    script:
      "bash -c 'cd /proc/$$/fd; echo [0-2]'; bash -c 'for f in /proc/$$/fd/*; do readlink $f; done' | grep -E 'socket:|anon_inode|/dev/(sd|mem)' && echo BREACH; true"
  }
]

const program = Url.fileURLToPath(new URL("../../dist/bin/synapse.cjs", import.meta.url))

const run = (file: string, args: ReadonlyArray<string>, options: ChildProcess.ExecFileOptions) =>
  Effect.async<string>((resume) => {
    ChildProcess.execFile(file, args, options, (_, stdout, stderr) => resume(Effect.succeed(`${stdout}\n${stderr}`)))
  })

const inherited = (ground: string) => {
  const title = "descriptors that the program itself was started with"
  if (!Fs.existsSync(program)) it.skip(`${title} (the program is not built)`)
  else
    scene(ground, title, {}, ({ home, outside, project, secret }) =>
      Effect.gen(function* () {
        const command =
          "ls -l /proc/self/fd; for p in /proc/[0-9]*; do for f in $p/fd/*; do cat $f/.ssh/id_rsa; readlink $f; done; done </dev/null 2>/dev/null; cat <&9; cat <&63; echo RAN"
        const said = yield* run(
          "/bin/bash",
          [
            "-c",
            `exec 9<${home}/.ssh/id_rsa 63<${home} 64<>${outside}/file; exec "$@"`,
            "sh",
            process.execPath,
            program,
            "exec",
            command
          ],
          { cwd: project, env: { ...process.env, HOME: home, SYNAPSE_HOME: `${home}/.synapse`, FOO_TOKEN: secret } }
        )
        assert.include(said, "RAN")
        assert.notInclude(said, secret)
        assert.notInclude(said, outside)
        // The shell's own pipes lie in the home; what they are called is no secret.
        assert.notMatch(said, new RegExp(`^${home}(?!/\\.synapse/run/session-)`, "m"))
      })
    )
}

/** A name of the PATH that a sandbox can write to: what `npx` and `npm run` put there. */
const planted = ["mkfifo", "bwrap", "bash", "mount", "umount", "nsenter", "unshare", "ps", "sh", "node"]

export const environment = (ground: string): void => {
  const before = { ...process.env }
  const prepare = (places: Places) => {
    Object.assign(process.env, hidden(places))
  }
  together(
    ground,
    "what the launcher has",
    { prepare },
    {
      "variables and descriptors": attacks,
      FIFOs: [
        {
          title: "a command writes into them",
          test: ({ execute, manager, project, secret, temporary }) =>
            Effect.gen(function* () {
              yield* Effect.exit(
                manager.execute(
                  `for f in ${temporary}/synapse-*/*/*; do [ -p "$f" ] && (timeout 1 sh -c "printf '0 /\\n\\0;;${"x".repeat(99)}\\n' > $f" &); done; true`
                )
              )
              yield* Effect.exit(manager.execute("echo again"))
              yield* manager.restart
              assert.strictEqual((yield* execute(`cd ${project}; pwd`)).stdout, `${project}\n`)
              const said = yield* Effect.either(manager.execute(`cat ${project}/pkg/.env`))
              assert.notInclude(JSON.stringify(said), secret)
            })
        }
      ]
    }
  )
  it("the launcher gets its environment back", () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  })
}

/** What the launcher does itself, whoever its user is. */
export const launcher = (ground: string): void => {
  const before = process.env["PATH"]
  inherited(ground)
  scene(
    ground,
    "the launcher runs no program that a sandbox may have written, whatever the PATH says",
    {
      prepare: ({ outside, project }) => {
        const bin = Path.join(project, "node_modules", ".bin")
        for (const name of planted) {
          // Inside, nothing can be written there: what is written was written outside.
          write(
            Path.join(bin, name),
            `#!/bin/sh\necho ${name} >> ${outside}/planted\nPATH=/usr/sbin:/usr/bin:/bin exec ${name} "$@"\n`,
            0o755
          )
        }
        process.env["PATH"] = `${bin}:${before}`
      }
    },
    ({ execute, manager, outside, project }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 8; at++) yield* execute("true")
        yield* execute("(setsid sleep 1000 &) >/dev/null 2>&1")
        yield* manager.restart
        write(`${project}/late/.env`, "x")
        yield* execute("true")
        yield* manager.shutdown
        assert.isFalse(
          Fs.existsSync(`${outside}/planted`),
          Fs.existsSync(`${outside}/planted`) ? Fs.readFileSync(`${outside}/planted`, "utf8") : ""
        )
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            process.env["PATH"] = before
          })
        )
      )
  )
}
