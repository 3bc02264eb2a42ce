import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as DefaultSecrets from "../../../src/sandbox/policy/DefaultSecrets.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"

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
      ["~/.kube/config", "config", "apiVersion: v1\n"],
      // Lines that would take minutes.
      ...["a", "?auth", "/t/a", "://", "-a'", " "].map(
        (part) => ["**/.npmrc", ".npmrc", part.repeat(200_000 / part.length)] as const
      ),
      ...['"\\', "/* token x", '"a":'].map(
        (part) => ["~/.cursor/mcp.json", "mcp.json", `${part}\n`.repeat(50_000)] as const
      )
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

  const [npm, pip, conda, cargo, uv, nix, bun, gradle] = [
    "~/.npmrc",
    "~/.config/pip/pip.conf",
    "~/.condarc",
    "~/.cargo/config.toml",
    "~/.config/uv/uv.toml",
    "~/.config/nix/nix.conf",
    "~/.bunfig.toml",
    "~/.gradle/gradle.properties"
  ] as const
  const [yarn, yarnrc, codex, claude, cursor] = [
    "~/.yarnrc.yml",
    "~/.yarnrc",
    "~/.codex/config.toml",
    "~/.claude/settings.json",
    "~/.cursor/mcp.json"
  ] as const
  const [bundle, nuget, maven, mysql] = [
    "~/.bundle/config",
    "~/.nuget/NuGet/NuGet.Config",
    "~/.m2/settings.xml",
    "~/.my.cnf"
  ] as const

  it("are shown to the letter where their settings are harmless", () => {
    const settings: ReadonlyArray<readonly [pattern: string, text: string]> = [
      [npm, "; mine\nregistry=https://r.example/npm/\nstrict-ssl\nalways-auth=true\nkeyfile=/etc/ssl/npm.pem\n"],
      [npm, "save-exact=true # as in CI\nauth-type=legacy\nprefix=${HOME}/.npm-global\ninit-author-name=Ada\n"],
      [npm, "public-hoist-pattern[]=*eslint*\nnode-options=--max-old-space-size=4096\nproxy=http://p.example:3128/\n"],
      [npm, "@acme:registry=https://npm.pkg.example\n//npm.pkg.example/:_authToken=${TOKEN}\nemail=ada@a.example\n"],
      [yarn, 'nodeLinker: node-modules\nplugins:\n  - path: .yarn/plugins/x.cjs\n    spec: "@yarnpkg/plugin-x"\n'],
      [
        yarnrc,
        '# yarn lockfile v1\n\nlastUpdateCheck 1600000000000\nregistry "https://r.example"\nyarn-path ".yarn/y.js"\n'
      ],
      [pip, "[global]\ntimeout = 60\ntrusted-host =\n    pypi.org\n    files.example\nkeyring-provider = subprocess\n"],
      [pip, "[install]\nno-compile = yes\nfind-links =\n    /srv/wheels\n    https://w.example/simple ; the mirror\n"],
      [pip, "[global]\nindex-url = https://p.example/simple\ncert = /etc/ssl/ca.pem\nclient-cert = ~/c.pem\n"],
      [
        conda,
        "channel_priority: strict\nchannels:\n  - conda-forge\n  - https://c.example/channel\nssl_verify: true\n"
      ],
      [
        conda,
        "auto_activate_base: false\nenvs_dirs:\n  - ~/envs\npkgs_dirs: [/opt/pkgs]\nadd_pip_as_python_dependency: no\n"
      ],
      [cargo, '[net]\ngit-fetch-with-cli = true # by ssh\n[target.x86_64-unknown-linux-gnu]\nlinker = "clang"\n'],
      [cargo, '[build]\nrustflags = ["-C", "link-arg=-fuse-ld=mold"]\n[target.\'cfg(unix)\']\nrunner = "sudo -E"\n'],
      [cargo, '[registry]\nglobal-credential-providers = ["/usr/bin/p"]\n[alias]\nb = "build"\n'],
      [cargo, '[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+https://m.example/index/"\n'],
      [
        uv,
        '[[index]]\nname = "m"\nurl = "https://m.example/simple"\ndefault = true\n[tool.keyring]\nexclude-newer = "2025-01-01T00:00:00Z"\n'
      ],
      [uv, 'cache-keys = [{ file = "pyproject.toml" }, { git = true }]\n[pip]\nno-binary = [\n  "numpy",\n]\n'],
      [
        nix,
        "experimental-features = nix-command flakes\nnetrc-file = /etc/nix/netrc\nsecret-key-files = /etc/nix/key\n"
      ],
      [
        nix,
        "substituters = https://cache.nixos.org\ntrusted-public-keys = cache.nixos.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=\n"
      ],
      [
        bun,
        '[install]\nregistry = "https://r.example"\n[install.scopes]\n"@acme" = { token = "$npm_token", url = "https://a.example" }\n'
      ],
      [bun, '[test]\ncoverage = true\npreload = ["./setup.ts"]\n[run]\nshell = "bun"\n'],
      [
        gradle,
        "#Mon Jan 01\norg.gradle.jvmargs=-Xmx2g -XX:MaxMetaspaceSize=1g -Dfile.encoding=UTF-8\nandroid.useAndroidX=true\n"
      ],
      [gradle, "systemProp.https.nonProxyHosts=localhost|*.a.example\nsigning.secretKeyRingFile=/home/ada/ring.gpg\n"],
      [
        codex,
        'model = "m"\nmodel_max_output_tokens = 4096\n[model_providers.a]\nenv_key = "A_API_KEY"\n[tools]\nweb = true\n'
      ],
      [
        claude,
        '{\n  // mine\n  "apiKeyHelper": "/bin/key", /* a program */\n  "permissions": { "allow": ["Bash(npm test:*)"], },\n}\n'
      ],
      [claude, '{"env": {"A": "1", "TOKEN": "${TOKEN}"}, "includeCoAuthoredBy": false, "url": "https://a.example//b"}'],
      [claude, "\n"],
      [
        cursor,
        '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "--port", "1"], "env": {"KEY": "${env:KEY}"}}}}'
      ],
      [
        bundle,
        '---\nBUNDLE_WITHOUT: "development:test"\nBUNDLE_BUILD__NOKOGIRI: "--use-system-libraries"\nBUNDLE_PATH: "v"\n'
      ],
      [
        nuget,
        '<configuration>\n<packageSources>\n<add key="nuget.org" value="https://n.example/v3/index.json" protocolVersion="3" />\n</packageSources>\n<apikeys />\n</configuration>\n'
      ],
      [
        maven,
        "<settings>\n<servers><server><id>a</id><password>${env.PW}</password></server></servers>\n</settings>\n"
      ],
      [maven, '\ufeff<?xml version="1.0"?>\n<!-- of the\n  team -->\n<settings xmlns="http://m.example/1"/>\n'],
      [claude, '{"security": {"auth": {"selectedType": "oauth-personal", "useExternal": false}}}'],
      [mysql, "[client]\nuser=ada\nhost=db.example\nport = 3306\n[mysql]\nno-auto-rehash\n"]
    ]
    assert.deepStrictEqual(
      settings.filter(([pattern, text]) => !isHarmless(pattern, Path.basename(pattern), text)),
      []
    )
  })

  it("are shown without any secret among their settings", () => {
    const settings: ReadonlyArray<readonly [pattern: string, text: string]> = [
      [npm, "DB_PASS = hunter2\n"],
      [npm, "Cookie: hunter2\n"],
      [npm, "//r.example/:_auth=hunter2\n"],
      [npm, "a=b ; token=hunter2\n"],
      [npm, "#_password=hunter2\n"],
      [npm, "registry=https://r.example/?api_key=hunter2\n"],
      [npm, "key=hunter2\n"],
      [npm, "a=aB3dE5fG7hI9jK1lM3nO5hunter2==\n"],
      [yarn, 'npmRegistries:\n  "https://r.example":\n    npmAuthIdent: "ada:hunter2"\n'],
      [yarnrc, '"//r.example/:_authToken" "hunter2"\n'],
      [yarnrc, "_authToken hunter2\n"],
      [pip, "[global]\nextra-index-url =\n    https://p.example/simple\n    https://ada:hunter2@q.example/simple\n"],
      [pip, "[global]\nproxy = http://ada:hunter2@p.example:1\n"],
      [conda, "channels:\n  - https://c.example/t/hunter2hunter2/x\n"],
      [conda, "proxy_servers:\n  http: http://ada:hunter2@p.example\n"],
      [cargo, '[http]\nproxy = "ada:hunter2@p.example:1"\n'],
      [cargo, '[registries.a]\ntoken = """\nhunter2"""\n'],
      [cargo, '[env]\nAPP_SECRET = { value = "hunter2", force = true }\n'],
      [uv, '[[index]]\nurl = "https://hunter2@m.example/simple"\n'],
      [nix, "access-tokens = github.com=hunter2\n"],
      [bun, '[install]\nregistry = { url = "https://r.example", token = "hunter2" }\n'],
      [gradle, "signing.password=hunter2\n"],
      [gradle, "org.gradle.jvmargs=-Xmx2g -Djavax.net.ssl.keyStorePassword=hunter2\n"],
      [codex, 'env = { VAPID_PUBLIC_KEY = "x", DB_PASSWORD = "hunter2" }\n'],
      [claude, '{"apiKeyHelper":"echo aB3dE5fG7hI9jK1lM3nO5hunter2=="}'],
      [npm, "_auth = no,hunter2\n"],
      [npm, "nexusPassword 12345678hunter2\n"],
      [maven, "<m:password>hunter2</m:password>\n"],
      [maven, "token=hunter2\n"],
      [maven, "<settings>\n<password><![CDATA[hunter2]]></password>\n</settings>\n"],
      [maven, "<settings>\n<!-- password: hunter2 -->\n</settings>\n"],
      [maven, "<settings></settings>\npassword=hunter2\n"],
      [nuget, "<c>\n<add key='ClearTextPassword' value='hunter2' />\n</c>\n"],
      [nuget, '<c>\n<add value="hunter2" key="ClearTextPassword" />\n</c>\n'],
      [codex, '[mcp_servers.a]\nargs = ["-y", "--api-key", "hunter2"]\n'],
      [codex, '[model_providers.a]\nhttp_headers = { "X-Api" = "hunter2" }\n'],
      [claude, '{"a": 1, // token: hunter2\n}'],
      [claude, '{"env": {"PASS": "hunter2"}, "env": {}}'],
      [claude, '{"statusLine": {"command": "curl https://ada:hunter2@a.example"}}'],
      [cursor, '{"mcpServers": {"a": {"headers": {"X": "hunter2"}}}, /* x */ }'],
      [bundle, 'BUNDLE_GEMS__A__EXAMPLE: "ada:hunter2"\n'],
      [nuget, '<a><add key="ClearTextPassword" value="hunter2" /></a>\n'],
      [maven, "<settings><!-- <password>hunter2</password> --></settings>\n"],
      [maven, "<settings><server>\n<passphrase>\n  hunter2\n</passphrase></server></settings>\n"],
      [mysql, "[client]\npassword=hunter2\n"],
      ["~/.curlrc", 'user = "ada:hunter2"\n'],
      ["~/.curlrc", "-u ada:hunter2\n"],
      ["~/.wgetrc", "http_password = hunter2\n"],
      ["~/.gitconfig", "[sendemail]\n\tsmtpPass = hunter2\n"],
      [codex, 'env = { MYSQL_PWD = "hunter2" }\n'],
      [gradle, "nexusPwd=hunter2\n"],
      [bun, '[install]\nregistry = "https://r.example/?auth=hunter2"\n'],
      [bun, '[install]\nregistry = { url = "https://r.example", pwd = "hunter2" }\n'],
      [npm, "_password=$ecrethunter2\n"],
      [npm, "a=b\n# the password hunter2\n"],
      [claude, '{"env": {"PASSWORD": "$ecrethunter2"}}'],
      [claude, '{"url": "https://r.example/?auth=hunter2"}'],
      [claude, '{"auth": {"selectedType": "x", "value": "hunter2"}}'],
      [claude, '{"auth": {"list": [{"a": "hunter2"}]}}'],
      [cursor, '{"args": ["-u", "ada:hunter2"]}'],
      [cursor, '{"args": ["-uada:hunter2"]}'],
      [cursor, '{"args": ["--proxy-user", "ada:hunter2"]}'],
      [cursor, '{"args": ["-H", "X-Mine: hunter2"]}'],
      [codex, 'args = ["-H", "X-Mine: hunter2"]\n'],
      [nuget, '<c>\n<add key = "ClearTextPassword" value = "hunter2" />\n</c>\n'],
      [nuget, '<c>\n<apikeys>\n<add key="https://n.example" value="hunter2" />\n</apikeys></c>\n'],
      [maven, "<s>\n<password>hunter2<!-- mine --></password>\n</s>\n"],
      [maven, "<s>\n<password><!-- mine -->hunter2</password>\n</s>\n"],
      [maven, "<s><property><name>Private-Token</name><value>hunter2</value></property></s>\n"],
      ["~/.curlrc", "-uada:hunter2\n"],
      ["~/.curlrc", "proxy-user = ada:hunter2\n"],
      ["~/.curlrc", "--proxy-user ada:hunter2\n"],
      [codex, '[mcp_servers.a.http_headers]\nX-Mine = "hunter2"\nY-Mine = "ahunter"\n'],
      [codex, '[secrets]\na = "ahunter"\n'],
      [codex, '[a]\n  [a.env.MY_TOKEN]\n  value = "ahunter"\n'],
      [codex, 'args = [\n  "--token",\n  "ahunter",\n]\n'],
      [codex, 'args = ["-H", "X-Mine: ahunter"]\n'],
      [codex, 'command = "mysql"\nargs = ["-pahunter"]\n'],
      [conda, "args:\n  - --token\n  - ahunter\n"],
      [conda, "tokens:\n  [ahunter, b]\n"],
      [yarn, "a:\n  - name: MY_TOKEN\n    value: ahunter\n  - name: b\n"],
      [npm, "cert=c.pem:hunter2\n"],
      [npm, "note=my hunter2\n"],
      [gradle, "a = hunter2\\\n  b\n"],
      ["~/.curlrc", "-H X-Mine:ahunter\n"],
      ["~/.curlrc", "-b sid=ahunter\n"],
      ["~/.curlrc", "-sSfu ada:ahunter\n"],
      ["~/.curlrc", "silent\n-sSfu\nada:ahunter\n"],
      ["~/.curlrc", "cert=c.pem:ahunter\n"],
      ["~/.gitconfig", "[hub]\n\toauth=ahunter\n"],
      ["~/.gitconfig", "[a]\n\tb = hunter2\n"],
      ["~/.gitconfig", '[url "https://r.example/hunter2hunter2hunter2AB/"]\n\tinsteadOf = x\n'],
      [claude, '{"permissions": {"allow": ["Bash(PASS=ahunter)"]}}'],
      [claude, '{"permissions": {"allow": ["Bash(x --password ahunter)"]}}'],
      [claude, '{"env": [{"name": "API_KEY", "value": "ahunter"}]}'],
      [claude, '{"a": "hunter2"}'],
      [cursor, '{"args": ["--token", "ahunter", "--y"]}'],
      [maven, "<a><b>hunter2</b></a>\n"],
      [maven, '<s><p><name>token</name><value lang="en">ahunter</value></p></s>\n'],
      [nuget, '<c>\n<add VALUE="ahunter" KEY="ClearTextPassword" />\n</c>\n']
    ]
    const path = `${root}/settings`
    const shown = settings.filter(([pattern, text]) => {
      const rule: Rule = { pattern, path, kind: "path", source: "default" }
      Fs.writeFileSync(path, text)
      const isWhole = DefaultSecrets.isHarmless(rule, path)
      return isWhole || DefaultSecrets.standInOf({ blacklist: [rule] }, rule, path)?.includes("hunter") === true
    })
    assert.deepStrictEqual(shown, [])
    const pin = '{"password": 20304050, "max_tokens": 4096}'
    Fs.writeFileSync(path, pin)
    const rule: Rule = { pattern: claude, path, kind: "path", source: "default" }
    assert.strictEqual(DefaultSecrets.standInOf({ blacklist: [rule] }, rule, path), '{\n  "max_tokens": 4096\n}\n')
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
