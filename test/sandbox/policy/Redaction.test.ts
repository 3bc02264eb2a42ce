import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as DefaultSecrets from "../../../src/sandbox/policy/DefaultSecrets.js"
import * as Redaction from "../../../src/sandbox/policy/Redaction.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"
import * as Temporary from "../../support/Temporary.js"

const [note] = (Redaction.showLines("_password=x\n") ?? "").split("\n")

/** Returns the lines that are left. */
const left = (text: string) =>
  Redaction.showLines(text)
    ?.split("\n")
    .filter((line) => line !== "" && line !== note)

describe("settings without their secrets", () => {
  it("keep the addresses of registries, and switches", () => {
    const cases: ReadonlyArray<readonly [text: string, kept: ReadonlyArray<string>]> = [
      [
        "registry=https://r.example/npm/\n//r.example/npm/:_authToken=abc\n@acme:registry = https://a.example/\nalways-auth=true\n",
        ["registry=https://r.example/npm/", "@acme:registry = https://a.example/", "always-auth=true"]
      ],
      [
        "[global]\nindex-url = https://ada:pw@p.example/simple\nextra-index-url =\n    https://ada:pw@q.example/simple\n    https://r.example/simple\n",
        [
          "[global]",
          "index-url = https://p.example/simple",
          "extra-index-url =",
          "    https://q.example/simple",
          "    https://r.example/simple"
        ]
      ],
      [
        'npmScopes:\n  acme:\n    npmRegistryServer: "https://a.example"\n    npmAuthToken: "abc"\nnpmRegistryServer: "https://b.example"\n',
        [
          "npmScopes:",
          "  acme:",
          '    npmRegistryServer: "https://a.example"',
          'npmRegistryServer: "https://b.example"'
        ]
      ],
      [
        '[registries.acme]\nindex = "sparse+https://a.example/index/"\ntoken = "Bearer abc"\n\n[net]\ngit-fetch-with-cli = true\n',
        ["[registries.acme]", 'index = "sparse+https://a.example/index/"', "[net]", "git-fetch-with-cli = true"]
      ],
      [
        "channels:\n  - https://c.example/t/tk-12345678/x\n  - conda-forge\n",
        ["channels:", "  - https://c.example/x", "  - conda-forge"]
      ],
      ["org.gradle.jvmargs=-Xmx2g\nnexusPassword=pw\n", ["org.gradle.jvmargs=-Xmx2g"]],
      ["_authToken=${NPM_TOKEN}\n", ["_authToken=${NPM_TOKEN}"]],
      ['npmAuthToken: "${NPM_TOKEN:-}"\n', ['npmAuthToken: "${NPM_TOKEN:-}"']],
      // What yarn 1 writes at a login.
      [
        '"@acme:registry" "https://a.example/"\n"//a.example/:_authToken" abc\nregistry "https://b.example"\nusername ada\n',
        ['"@acme:registry" "https://a.example/"', 'registry "https://b.example"', "username ada"]
      ],
      // Settings never get below another section.
      [
        '[build] # native\ntarget = "x86_64-unknown-linux-musl" # static\n[target.\'cfg(target_arch = "arm")\']\nlinker = "clang"\n[registry]\ntoken = "abc"\n',
        [
          "[build]",
          'target = "x86_64-unknown-linux-musl"',
          "[target.'cfg(target_arch = \"arm\")']",
          'linker = "clang"',
          "[registry]"
        ]
      ],
      [
        'disable_checkpoint = true\nprovider_installation {\n  network_mirror {\n    url = "https://m.example/"\n  }\n}\ncredentials "a.example" {\n  token = "abc"\n}\n',
        [
          "disable_checkpoint = true",
          "provider_installation {",
          "  network_mirror {",
          '    url = "https://m.example/"',
          "  }",
          "}"
        ]
      ]
    ]
    assert.deepStrictEqual(
      cases.map(([text]) => left(text) ?? []),
      cases.map(([, kept]) => kept)
    )
  })

  it("keep no part of a secret, however it is written", () => {
    const secrets = [
      "_password =\n  hunter\nregistry=https://r.example/\n",
      "_password =\nhunter\nregistry=https://r.example/\n",
      "token: >-\n  hunter\nregistry: https://r.example/\n",
      "tokens:\n- hunter\n- hunter: hunter\nregistry: https://r.example/\n",
      "tokens = [\n  'hunter',\n]\nregistry = 'https://r.example/'\n",
      "# token=hunter\nregistry=https://r.example/\n",
      "a=https://a.example/ # 2hunter\nregistry=https://r.example/\n",
      "r = { user = 'ada', pass = 'hunter' }\nregistry = 'https://r.example/'\n",
      "index-url=https://hunter@r.example/\nregistry=https://r.example/\n",
      "index-url=https://r.example/?token=hunter\nregistry=https://r.example/\n",
      "index-url=https://r.example/aB3dE5fG7hI9jK1lM3nO5hunter/simple\nregistry=https://r.example/\n",
      "nexusPassword hunter\nregistry=https://r.example/\n",
      "authorization=hunter\nregistry=https://r.example/\n",
      "name=ada # 2hunter\nregistry=https://r.example/\n",
      '"token": "hunter"\nregistry=https://r.example/\n',
      "password=\\\nfoo=hunter\nregistry=https://r.example/\n"
    ]
    for (const text of secrets) {
      assert.notInclude(Redaction.showLines(text) ?? "", "hunter", text)
      assert.include(Redaction.showLines(text) ?? "", "r.example/", text)
    }
  })

  it("are none where a value may go on in ways that are not followed", () => {
    for (const text of ['token = """\nregistry=hunter\n"""\n', "token = '''\na = b\n'''\n"]) {
      assert.isUndefined(Redaction.showLines(text), text)
    }
    assert.isUndefined(Redaction.showJson('{"auths": {'))
  })

  it("leave out a line that is no setting, with the setting above it", () =>
    Temporary.using(async (directory) => {
      const path = `${directory}/.npmrc`
      const rule: Rule = { pattern: "~/.npmrc", path, kind: "path", source: "default" }
      const shown = (text: string) => {
        Fs.writeFileSync(path, text)
        return DefaultSecrets.standInOf({ blacklist: [rule] }, rule, path)
      }
      const linux = process.platform === "linux"
      assert.strictEqual(shown("a=b\ntoken=hunter\n"), linux ? `${note}\na=b\n` : undefined)
      assert.strictEqual(
        shown("c=d\na=b\nmachine r.example, login ada, hunter\n"),
        linux ? `${note}\nc=d\n` : undefined
      )
    }))

  it("keep what git needs, in a form that git reads", () =>
    Temporary.using(async (directory) => {
      const path = `${directory}/.gitconfig`
      const rule: Rule = { pattern: "~/.gitconfig", path, kind: "path", source: "default" }
      const lines = [
        '[http "https://r.example/"]',
        "\textraHeader = Authorization: Basic \\",
        "\t\thunter",
        '[url "https://ada:hunter@r.example/"]',
        "\tinsteadOf = https://r.example/",
        '[url "https://r.example/ghp_hunterhunter"] insteadOf = x',
        "[user]",
        "\tname = ada99",
        "[github]",
        "\ttoken = hunter"
      ]
      Fs.writeFileSync(path, lines.join("\n"))
      const shown = DefaultSecrets.standInOf({ blacklist: [rule] }, rule, path)
      if (process.platform !== "linux") return
      const [http, , , , instead, , user, name, github] = lines
      const url = '[url "https://r.example/"]'
      assert.deepStrictEqual(shown?.split("\n"), [note, http, url, instead, user, name, github, ""])
    }))

  it("keep the registries of Docker", () => {
    const config = {
      auths: { "r.example": { auth: "YWRhOnB3", email: "ada@r.example" }, "s.example": { identitytoken: "hunter" } },
      HttpHeaders: { "X-Meta": "hunter" },
      credsStore: "pass",
      proxies: { default: { httpProxy: "http://ada:hunter@p.example:3128" } }
    }
    assert.deepStrictEqual(JSON.parse(Redaction.showJson(JSON.stringify(config)) ?? ""), {
      auths: { "r.example": { email: "ada@r.example" }, "s.example": {} },
      HttpHeaders: {},
      credsStore: "pass",
      proxies: { default: { httpProxy: "http://p.example:3128" } }
    })
  })
})
