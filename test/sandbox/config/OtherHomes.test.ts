import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as DefaultSecrets from "../../../src/sandbox/policy/DefaultSecrets.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import * as Temporary from "../../support/Temporary.js"

describe("other homes", () => {
  it("are those of people in the list of accounts", () =>
    assert.deepStrictEqual(
      SandboxSettings.inPasswd(
        [
          "root:x:0:0:root:/root:/bin/bash",
          "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
          "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
          "ada:x:1000:1000:Ada:/home/ada:/bin/bash",
          "bob:x:1001:1001::/data/people/bob:/bin/sh",
          "svc:x:120:120::/home/svc:/bin/false",
          "odd:x:1002:1002::/:/bin/sh",
          ""
        ].join("\n")
      ),
      ["/home/ada", "/data/people/bob", "/home/svc"]
    ))

  it("are the account's own, where HOME is another", () => {
    const own = Os.userInfo().homedir
    assert.notInclude(SandboxSettings.find(own), own)
  })

  it("keep their secrets as the user's own home does", () => {
    const policy = Either.getOrThrow(
      PolicyBuilder.merge(
        "/w",
        "/nowhere/sandbox.json",
        SandboxFile.defaults,
        SandboxSettings.make({ userHome: "/nowhere/ada", homes: ["/nowhere/b[o]b"], temporary: "/tmp", program: [] })
      )
    )
    const { decide } = PolicyDecision.make(policy)
    for (const home of ["/nowhere/ada", "/nowhere/b[o]b"]) {
      for (const secret of [".ssh/id_rsa", ".aws/credentials", ".gnupg", ".config/gcloud/x"]) {
        assert.isFalse(decide(`${home}/${secret}`, "read").allowed, `${home}/${secret}`)
      }
      assert.isTrue(decide(`${home}/.profile`, "read").allowed)
    }
  })

  it("of settings, data and caches, by their variables, keep the secrets of the usual ones", () =>
    Temporary.using(async (directory) => {
      const variables = {
        XDG_CONFIG_HOME: `${directory}/$c`,
        XDG_DATA_HOME: `${directory}/data/`,
        XDG_CACHE_HOME: "cache"
      }
      Fs.mkdirSync(`${directory}/$c/git`, { recursive: true })
      Fs.writeFileSync(`${directory}/$c/git/config`, "[user]\n\tname = Ada\n[github]\n\ttoken = hunter\n")
      const settings = SandboxSettings.make({ userHome: "/nowhere/ada", temporary: "/nowhere/tmp", variables })
      const merged = PolicyBuilder.merge("/w", "/nowhere/sandbox.json", SandboxFile.defaults, settings)
      const policy = Either.getOrThrow(merged)
      const { decide } = PolicyDecision.make(policy)
      for (const secret of ["$c/op/x", "$c/git/credentials", "data/keyrings/x"])
        assert.isFalse(decide(`${directory}/${secret}`, "read").allowed, secret)
      for (const other of ["$c/git/ignore", "cache/huggingface/token"])
        assert.isTrue(decide(`${directory}/${other}`, "read").allowed, other)
      const path = `${directory}/$c/git/config`
      const rule = policy.blacklist.find((one) => one.path === path)
      assert.isDefined(rule)
      if (rule === undefined || process.platform !== "linux") return
      const shown = DefaultSecrets.standInOf(policy, rule, path) ?? ""
      assert.match(shown, /name = Ada\n\[github\]\n$/)
    }))

  it("of single tools, by their variables, keep the secrets of the usual ones", () =>
    Temporary.using(async (directory) => {
      const variables = {
        KUBECONFIG: `${directory}/a:${directory}/b`,
        CARGO_HOME: `${directory}/cargo`,
        CLAUDE_CONFIG_DIR: `${directory}/claude`,
        AWS_SHARED_CREDENTIALS_FILE: `${directory}/aws`,
        NPM_CONFIG_USERCONFIG: `${directory}/mine.txt`,
        GIT_CONFIG_GLOBAL: "/dev/null",
        GNUPGHOME: "/",
        HISTFILE: `${directory}/history`,
        DB_PASSWORD_FILE: `${directory}/db`,
        SOPS_AGE_KEY_FILE: `${directory}/age`,
        TOKENIZER_FILE: `${directory}/tokenizer`,
        GOOGLE_APPLICATION_CREDENTIALS: "sa.json",
        APP_SECRET_FILE: "../app",
        AUTH_MODULE: "./auth.js"
      }
      Fs.mkdirSync(`${directory}/w`)
      const names = ["aws", "db", "age", "app", "tokenizer", "w/sa.json", "w/auth.js"]
      for (const name of names) Fs.writeFileSync(`${directory}/${name}`, "hunter")
      Fs.mkdirSync(`${directory}/cargo`)
      Fs.writeFileSync(`${directory}/cargo/credentials.toml`, '[registry]\ntoken = "hunter"\n')
      Fs.writeFileSync(`${directory}/mine.txt`, "color=false\n_authToken=hunter\n")
      const settings = SandboxSettings.make({ userHome: "/nowhere/ada", temporary: "/nowhere/tmp", variables })
      const merged = PolicyBuilder.merge(`${directory}/w`, "/nowhere/sandbox.json", SandboxFile.defaults, settings)
      const { explain } = PolicyDecision.make(Either.getOrThrow(merged))
      const isRead = (path: string) => explain(path, directory, "read").allowed
      const hidden = [
        "a",
        "b",
        "cargo/credentials.toml",
        "claude/.claude.json",
        "claude/.credentials.json",
        "aws",
        "db",
        "age",
        "app",
        "w/sa.json",
        "history"
      ]
      assert.deepStrictEqual(hidden.filter(isRead), [])
      assert.isTrue(["/dev/null", "/w", "cargo/registry/x", "tokenizer", "w/auth.js"].every(isRead))
      const npm = explain("mine.txt", directory, "read")
      if (process.platform === "linux") assert.match(npm.allowed ? "" : (npm.standIn ?? ""), /\ncolor=false\n$/)
    }))

  it("keep Synapse's own files, which hold conversations", () => {
    const other = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "other-home-"))
    try {
      Fs.mkdirSync(`${other}/.synapse`)
      const settings = SandboxSettings.make({ userHome: "/nowhere/ada", homes: [other], temporary: "/nowhere/tmp" })
      const policy = PolicyBuilder.merge("/w", "/nowhere/sandbox.json", SandboxFile.defaults, settings)
      const { decide } = PolicyDecision.make(Either.getOrThrow(policy))
      assert.isFalse(decide(`${other}/.synapse/sessions/a.jsonl`, "read").allowed)
    } finally {
      Fs.rmSync(other, { recursive: true })
    }
  })
})
