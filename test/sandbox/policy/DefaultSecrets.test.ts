import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as DefaultSecrets from "../../../src/sandbox/policy/DefaultSecrets.js"

const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "secrets-"))
afterAll(() => Fs.rmSync(root, { recursive: true, force: true }))

let files = 0
const isHarmless = (pattern: string, name: string, text: string) => {
  const path = `${root}/${++files}/${name}`
  Fs.mkdirSync(Path.dirname(path), { recursive: true })
  Fs.writeFileSync(path, text)
  return DefaultSecrets.isHarmless(
    { pattern, path: "/", kind: pattern.startsWith("~") ? "path" : "glob", source: "default" },
    path
  )
}

const begin = (kind: string) => `-----BEGIN ${kind}-----\nMIIB\n-----END ${kind}-----\n`

describe("files that built-in rules name", () => {
  it("are hidden where they hold a secret", () => {
    const hidden: ReadonlyArray<readonly [pattern: string, name: string, text: string]> = [
      ["**/.npmrc", ".npmrc", "plain-Word-1\n"],
      ["**/.npmrc", ".npmrc", "registry=https://r.example/\n//r.example/:_authToken=abc\n"],
      ["~/.npmrc", ".npmrc", "_password = YWJj\n"],
      ["~/.npmrc", ".npmrc", "registry=https://ada:pw@r.example/\n"],
      ["~/.npmrc", ".npmrc", "# //r.example/:_authToken=abc\n"],
      ["~/.config/pip/pip.conf", "pip.conf", "[global]\nindex-url = https://ada:pw@p.example/simple\n"],
      ["~/.docker/config.json", "config.json", '{"auths":{"r.example":{"auth":"YWRhOnB3"}}}'],
      ["~/.docker/config.json", "config.json", '{\n "auths": { "r": { "identitytoken": "x" } } }'],
      ["~/.cargo/config.toml", "config.toml", '[registries.x]\ntoken = "Bearer abc"\n'],
      ["~/.m2/settings.xml", "settings.xml", "<settings>\n<password>pw</password>\n</settings>\n"],
      ["**/?*.key", "server.key", begin("PRIVATE KEY")],
      ["**/?*.key", "server.key", "word\n"],
      ["**/?*.pem", "both.pem", begin("CERTIFICATE") + begin("RSA PRIVATE KEY")],
      ["**/?*.pem", "both.pem", begin("RSA PRIVATE KEY").replaceAll("\n", "\r\n") + begin("CERTIFICATE")],
      ["**/?*.pem", "both.pem", `password: hunter\n${begin("CERTIFICATE")}`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}hunter\n`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}The passphrase is hunter\r\n`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}user = AKIAABCDEFGHIJKLMNOP\n`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}-----BEGIN CERTIFICATE-----\nhunter-2\n`],
      ["**/?*.pem", "both.pem", begin("CERTIFICATE") + "# a comment\n".repeat(30_000)],
      ["**/?*.key", "both.key", `\x30\x82\x01\x02\n${begin("CERTIFICATE")}`],
      ["**/?*.key", "both.key", "\x30\x82\x01\x02"],
      ["**/?*.key", "both.key", Buffer.from(begin("CERTIFICATE"), "utf16le").toString("latin1")],
      ["**/?*.key", "ta.key", begin("OpenVPN Static key V1")],
      ["~/.gitconfig", ".gitconfig", '[url "https://ada:hunter@r.example/"]\n\tinsteadOf = https://r.example/\n'],
      ["~/.config/git/config", "config", "[github]\n\ttoken = hunter\n"],
      ["~/.gitconfig", ".gitconfig", '[url "https://0123456789abcdef@r.example/"]\n\tinsteadOf = https://r.example/\n'],
      ["~/.gitconfig", ".gitconfig", "[alias]\n\tx = !curl -u ada:hunter https://r.example\n"],
      ["~/.gitconfig", ".gitconfig", "[alias]\n\tx = !curl -H 'PRIVATE-TOKEN: hunter' https://r.example\n"],
      ["~/.gitconfig", ".gitconfig", "[http]\n\textraheader\\\n = X: hunter\n\tproxy = ada:hunter@p:1\n"],
      ["~/.claude/settings.json", "settings.json", '{"env":{"A":"ghp_abcdefghijk123","B":"x=y"}}'],
      ["~/.claude/settings.json", "settings.json", '{\n"url": "https://ada:hunter@r.example/?x=1"\n}'],
      ["~/.claude/settings.json", "settings.json", '{"env":{"DB_PASS":"hunter"}}'],
      ["~/.cursor/mcp.json", "mcp.json", '{"args":["--api-key","hunter"]}'],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}priv:\n    00:a1:b2\n`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}Master-Key: 00a1b2\n`],
      ["**/?*.pem", "both.pem", `${begin("CERTIFICATE")}PIN: 4711\n`],
      ["~/.config/uv/uv.toml", "uv.toml", '[[index]]\nurl = "https://ada:hunter@r.example/"\n'],
      ["~/.talos/config", "config", "context: a\n"],
      ["**/.env.*", ".env.production", "A=1\n"],
      ["**/.env.*", ".env.example.local", "A=1\n"],
      ["~/.kube/config", "config", "apiVersion: v1\n"]
    ]
    assert.deepStrictEqual(
      hidden.filter((each) => isHarmless(...each)),
      []
    )
  })

  it("are visible where they hold settings, certificates, or an example", () => {
    const visible: ReadonlyArray<readonly [pattern: string, name: string, text: string]> = [
      ["**/.npmrc", ".npmrc", "engine-strict=true\nlegacy-peer-deps\n\n; a comment\n"],
      ["**/.npmrc", ".npmrc", "//r.example/:_authToken=${NPM_TOKEN}\nalways-auth=true\n"],
      ["~/.config/pip/pip.conf", "pip.conf", "[global]\nindex-url = https://p.example/simple\n"],
      ["~/.docker/config.json", "config.json", '{\n\t"auths": {},\n\t"credsStore": "desktop"\n}\n'],
      ["~/.cargo/config.toml", "config.toml", '[build]\nrustflags = [\n  "-C", "target-cpu=native",\n]\n'],
      ["**/?*.pem", "ca.pem", begin("CERTIFICATE")],
      ["**/?*.pem", "two.pem", (begin("CERTIFICATE") + begin("CERTIFICATE")).replaceAll("\n", "\r\n")],
      [
        "**/?*.pem",
        "bundle.pem",
        `##\n## SHA256: ${"1bf4".repeat(16)}\n##\n\nACME Root\n=========\n${begin("CERTIFICATE")}`
      ],
      ["**/?*.pem", "text.pem", `Certificate:\n    Issuer: CN=A\n    Modulus:\n      00:a1\n${begin("CERTIFICATE")}`],
      ["**/?*.key", "apt.key", begin("PGP PUBLIC KEY BLOCK").replace("\n", "\nVersion: GnuPG v1\n\n")],
      ["~/.gitconfig", ".gitconfig", "[user]\n\tsigningKey = ssh-ed25519 AAAAC3NzaC1lZDI1\n[alias]\n\ta = !b \\\n c\n"],
      ["**/?*.key", "public.key", begin("PUBLIC KEY")],
      ["**/?*.key", "node_modules/x/test/server.key", begin("PRIVATE KEY")],
      ["**/.env.*", ".env.example", "A=1\n"],
      ["**/.env.*", ".env.production.sample", "A=1\n"],
      ["**/.env.*", ".env.dist", "A=1\n"]
    ]
    assert.deepStrictEqual(
      visible.filter((each) => !isHarmless(...each)),
      []
    )
  })

  it("are hidden again at once, though the new text has the size of the old one", () => {
    const rule = { pattern: "**/.npmrc", path: "/", kind: "glob", source: "default" } as const
    const path = `${root}/.npmrc`
    for (let times = 0; times < 50; times++) {
      Fs.writeFileSync(path, "color=always-on\n")
      assert.isTrue(DefaultSecrets.isHarmless(rule, path))
      Fs.writeFileSync(path, "_password=YWJjZ\n")
      assert.isFalse(DefaultSecrets.isHarmless(rule, path))
    }
  })
})
