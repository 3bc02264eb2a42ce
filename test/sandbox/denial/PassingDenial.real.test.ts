/** Against a real sandbox: commands that go on without what was denied to them. */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ground from "../../support/escape/Ground.js"
import { inApp } from "../../support/toolset/App.js"

describe("a command that goes on without what was denied to it", () => {
  for (const [what, command, shown] of [
    ["in a pipe", "f=.en; cat ${f}v | wc -l", "cat: .env: Permission denied\n0\n[cat exited 1]"],
    [
      "in a pipe with its messages",
      "f=.en; cp ${f}v new 2>&1 | tail -n 1",
      "cp: cannot open '.env' for reading: Permission denied\n[cp exited 1]"
    ],
    ["behind ||", "f=.en; cat ${f}v || true", "cat: .env: Permission denied"],
    ["in a copy of much", "cp -r . /tmp/copy || :", "cp: cannot open './.env' for reading: Permission denied"]
  ] as const) {
    inApp(`is told so, ${what}, and is no failure`, ({ cwd, handle, put }) =>
      Effect.gen(function* () {
        put(".env", "A=1\n")
        const { isError, output } = yield* handle({ command })
        const told = `sandbox: ${cwd}/.env is blocked by rule **/.env: on the blacklist (built in).`
        // Nobody is asked about files that a copy meets.
        const asked = command.includes("cp ")
          ? ""
          : ` Do not work around it. Ask the user to run: synapse sandbox allow ${cwd}/.env`
        assert.deepStrictEqual([output.trimEnd(), isError], [`${shown}\n${told}${asked}`, false])
      })
    )
  }

  for (const [what, command, resource] of [
    ["a refusal of a program that shows files", "f=.en; sed p ${f}v 2>&1 | tail -n 1", ".env"],
    ["a refusal of a program in brackets", "f=.en; (cat ${f}v) 2>&1 | tail -n 1", ".env"],
    ["a hidden file that node takes for missing", "node -e 'process.loadEnvFile()' 2>&1 | tail -n 30", ".env"],
    ["a refusal in typographic quotes", "make -f made 2>&1 | tail -n 2", "/srv/denied-by-make"],
    ["a refusal that begins with no program's name", "make -f include 2>&1 | tail -n 2", ".env"],
    ["what git names behind a pipe", "git init -q; git add . 2>&1 | tail -n 2", ".env"],
    ["a link that it removes again", "ln -s .env l; cat l; rm l", ".env"],
    ["a link to what is read-only", "ln -s /etc/hosts h; echo x >> h; rm h", "/etc/hosts"],
    ["a name from a directory that it removes again", "mkdir t; cd t; cat ../.env; cd ..; rmdir t", ".env"]
  ] as const) {
    inApp(`is told of ${what}`, ({ cwd, handle, put }) =>
      Effect.gen(function* () {
        put(".env", "A=1\n")
        put("made", "a:\n\t@LC_ALL=C.UTF-8 mkdir /srv/denied-by-make\n")
        put("include", "include .env\n")
        const { output } = yield* handle({ command })
        if (output.includes("command not found")) return
        assert.match(output, new RegExp(`^sandbox: ${Path.resolve(cwd, resource)} is `, "m"), output)
      })
    )
  }

  inApp("is told so of each write, whatever hides its exit code, and what to ask for", ({ cwd, handle }) =>
    Effect.gen(function* () {
      const outside = `/srv/${Path.basename(cwd)}-outside`
      for (const [at, command] of [
        "touch PATH || echo failed",
        "touch PATH; echo rc $?",
        "touch PATH 2>&1 || echo failed",
        "touch PATH 2>&1; echo on",
        "if ! touch PATH; then echo no; fi",
        "x=$(touch PATH 2>&1); echo $x"
      ].entries()) {
        const path = `${outside}-${at}`
        const { output } = yield* handle({ command: command.replace("PATH", path) })
        const last = output.trimEnd().split("\n").at(-1) ?? ""
        assert.strictEqual(last.includes(` Writable: ${cwd}, `), at === 0)
        assert.strictEqual(
          last.replace(/ Writable: .*?\.(?= )/, ""),
          `sandbox: ${path} is read-only. Ask the user to create ${path} and run: synapse sandbox allow ${path}`,
          command
        )
      }
    })
  )

  for (const [command, who] of [
    ["curl -sS http://192.0.2.1 2>&1 | tail -n 2; echo on", "192.0.2.1"],
    ["curl -s http://192.0.2.1 | tail -n 2; echo on", "192.0.2.1"],
    ["curl -sf http://192.0.2.1 -o x; echo $?", "192.0.2.1"],
    ["git clone http://192.0.2.1/x 2>&1 | tail -n 1; ls", "192.0.2.1"],
    ["git clone http://192.0.2.1/x 2>&1 | tail -n 1", "192.0.2.1"],
    ["git clone http://192.0.2.1/x >log 2>&1 | tail -n 1; echo on", undefined]
  ] as const) {
    if (!Ground.has(command.slice(0, command.indexOf(" ")))) continue
    inApp(`is told that there is no network: ${command}`, ({ handle }) =>
      Effect.gen(function* () {
        const { output } = yield* handle({ command })
        assert.strictEqual(
          output.trimEnd().split("\n").at(-1),
          who === undefined
            ? "sandbox: there is no network. Tell the user which host it needs: synapse sandbox allow lets commands reach it."
            : `sandbox: there is no network, so ${who} can't be reached. Ask the user to run: synapse sandbox allow ${who}`
        )
      })
    )
  }

  inApp(
    "is told what to ask for where a network that no host names made a part of a pipeline fail",
    ({ handle, put }) =>
      Effect.gen(function* () {
        put(
          "pip",
          `#!/bin/bash\n{ : </dev/udp/192.0.2.1/1; } 2>/dev/null || echo "ERROR: No matching distribution found for x" >&2; exit 1\n`
        )
        const told = yield* handle({ command: "chmod +x pip; ./pip install x 2>&1 | tail -n 1" })
        assert.strictEqual(
          told.output.trimEnd(),
          "ERROR: No matching distribution found for x\n[./pip exited 1]\nsandbox: there is no network. Ask the user to run: synapse sandbox allow --from pip"
        )
        // The packets are counted between commands.
        yield* Effect.sleep(200)
        const again = yield* handle({ command: "./pip install x 2>&1 | tail -n 1" })
        assert.strictEqual(again.output.trimEnd().split("\n").at(-1), "sandbox: there is no network.")
      })
  )

  inApp("is told of traffic that may be why it failed, once, with what to ask for", ({ handle }) =>
    Effect.gen(function* () {
      const command = "{ : </dev/udp/192.0.2.1/1; } 2>/dev/null; echo 'sync failed' >&2; false"
      const told =
        "The command tried to reach a network, and the sandbox has none: that may be why it failed. If so, tell the user which host it needs: synapse sandbox allow lets commands reach it."
      const first = yield* handle({ command })
      const second = yield* handle({ command })
      assert.deepStrictEqual(
        [first.output.trimEnd(), second.output.trimEnd()],
        [`sync failed\n[exit 1]\n${told}`, "sync failed\n[exit 1]"]
      )
    })
  )

  inApp("is told why git takes a file for changed", ({ cwd, handle, put }) =>
    Effect.gen(function* () {
      put(".env", "A=1\n")
      const git = (...args: ReadonlyArray<string>) =>
        ChildProcess.spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd })
      for (const args of [
        ["init", "-q"],
        ["add", "-f", ".env"],
        ["commit", "-qm", "x"]
      ])
        git(...args)
      // What git has not got is a secret: a local change of a file that it tracks.
      put(".env", "A=2\n")
      const { output } = yield* handle({ command: "git status --short" })
      assert.strictEqual(
        output.trimEnd(),
        ` M .env\nThe sandbox hides ${cwd}/.env (rule **/.env): git can't read it, and takes it for changed.`
      )
      put("new", "1\n")
      yield* handle({ command: "git add new" })
      const failed = yield* handle({
        command: "git config user.name a; git config user.email a@b; git commit -am 'a b'"
      })
      const remedy = "git commit -m 'a b' -- ':/' ':!/.env'"
      assert.include(failed.output, ` ${remedy} commits the rest.`)
      const done = yield* handle({ command: `${remedy} >/dev/null; git show --name-only --format=%s` })
      assert.strictEqual(done.output.split("\nThe sandbox")[0]?.trimEnd(), "a b\n\nnew")
    })
  )

  inApp("is told what git add can do, which works", ({ cwd, handle, put }) =>
    Effect.gen(function* () {
      put(".env", "A=1\n")
      put("new", "1\n")
      ChildProcess.spawnSync("git", ["init", "-q"], { cwd })
      const remedy = "git add -A -- ':!/.env'"
      const failed = yield* handle({ command: "git add -A" })
      assert.include(failed.output.trimEnd().split("\n").at(-1), ` ${remedy} adds the rest.`)
      const { output } = yield* handle({ command: `mkdir sub && cd sub && ${remedy}; git diff --cached --name-only` })
      assert.strictEqual(output.split("\n")[0], "new")
    })
  )

  inApp("is told of the network once, and what only prints is told nothing", ({ handle }) =>
    Effect.gen(function* () {
      if (!Ground.has("curl")) return
      const curl = (host: string) =>
        Effect.map(handle({ command: `curl -sS http://${host} || true` }), ({ output }) => output.trimEnd().split("\n"))
      assert.deepStrictEqual(yield* curl("example.org"), [
        "curl: (6) Could not resolve host: example.org",
        "sandbox: there is no network, so example.org can't be reached. Ask the user to run: synapse sandbox allow example.org"
      ])
      assert.lengthOf(yield* curl("example.net"), 1)
      const { output } = yield* handle({ command: 'f=.en; printf "cat: ${f}v: Permission denied\\n" >&2; false' })
      assert.strictEqual(output, "cat: .env: Permission denied\n[exit 1]")
    })
  )
})
