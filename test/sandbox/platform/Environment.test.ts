import { assert, describe, it } from "@effect/vitest"
import * as Environment from "../../../src/sandbox/platform/Environment.js"

const defaults = {
  GIT_TERMINAL_PROMPT: "0",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  PAGER: "cat",
  PIP_RETRIES: "1",
  npm_config_fetch_retries: "0"
}

describe("the environment", () => {
  it("lets through what is on the list, and what the user names", () => {
    const given = {
      AWS_PROFILE: "x",
      GITHUB_TOKEN: "x",
      GOPATH: "/go",
      HOME: "/home/ann",
      LANG: "de_DE.UTF-8",
      LC_TIME: "C",
      LD_PRELOAD: "/x.so",
      MY_A: "a",
      MY_API_KEY: "x",
      OTHER: "x",
      PAGER: "less",
      PATH: "/bin",
      PGPASSWORD: "x",
      PIP_INDEX_URL: "https://ann:x@index.example/",
      SSH_AUTH_SOCK: "/x",
      SYNAPSE_SESSION: "1",
      XDG_RUNTIME_DIR: "/run/user/1"
    }
    assert.deepStrictEqual(Environment.make(given), {
      ...defaults,
      GOPATH: "/go",
      HOME: "/home/ann",
      LC_TIME: "C",
      PAGER: "less",
      PATH: "/bin",
      SYNAPSE_SESSION: "1"
    })
    const named = Environment.make(given, ["MY_*", "GITHUB_TOKEN", "LANG", "PIP_*", "LD_PRELOAD"])
    assert.deepStrictEqual(
      [named["MY_A"], named["MY_API_KEY"], named["GITHUB_TOKEN"], named["LANG"], named["PIP_INDEX_URL"]],
      ["a", undefined, "x", "de_DE.UTF-8", undefined]
    )
    assert.deepStrictEqual(Environment.divide(named).within, { LD_PRELOAD: "/x.so" })
  })

  it("knows a secret by its name or its value", () => {
    const secret = [
      "STRIPE_KEY",
      "npm_config__auth",
      "CARGO_REGISTRIES_X_TOKEN",
      "DB_PASSWD",
      "GH_PAT",
      "COOKIE",
      "ORACLE_PWD"
    ]
    assert.deepStrictEqual(
      secret.filter((name) => !Environment.looksSecret(name, "x")),
      []
    )
    const plain = ["PATH", "PWD", "OLDPWD", "NODE_PATH", "PATTERN", "PYTHONPATH"]
    assert.deepStrictEqual(
      plain.filter((name) => Environment.looksSecret(name, "/x:y")),
      []
    )
    assert.isTrue(Environment.looksSecret("GOPROXY", "https://ann:secret@proxy.example"))
    assert.isFalse(Environment.looksSecret("GOPROXY", "https://proxy.example:8080,direct"))
  })
})
