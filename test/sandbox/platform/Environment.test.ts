import { assert, describe, it } from "@effect/vitest"
import * as Environment from "../../../src/sandbox/platform/Environment.js"

const defaults = {
  ...(process.platform === "linux" && process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : undefined),
  CARGO_HTTP_TIMEOUT: "120",
  CARGO_NET_RETRY: "0",
  GIT_TERMINAL_PROMPT: "0",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  PAGER: "cat",
  PIP_DEFAULT_TIMEOUT: "120",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_RETRIES: "1",
  UV_HTTP_TIMEOUT: "120",
  npm_config_fetch_retries: "0",
  npm_config_update_notifier: "false"
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
    const set = Environment.make({ NPM_CONFIG_UPDATE_NOTIFIER: "true" })
    assert.deepStrictEqual(
      Object.entries(set).filter(([name]) => /notifier/i.test(name)),
      [["NPM_CONFIG_UPDATE_NOTIFIER", "true"]]
    )
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
      "AUTHORIZATION",
      "XAUTHORITY",
      "DB_PW",
      "MAXIO_TOKEN",
      "ORACLE_PWD"
    ]
    assert.deepStrictEqual(
      secret.filter((name) => !Environment.looksSecret(name, "x")),
      []
    )
    const plain = ["PATH", "PWD", "OLDPWD", "NODE_PATH", "PATTERN", "PYTHONPATH", "SSH_ASKPASS_REQUIRE", "COMPASS_HOME"]
    assert.deepStrictEqual(
      plain.filter((name) => Environment.looksSecret(name, "/x:y")),
      []
    )
    assert.isTrue(Environment.looksSecret("GOPROXY", "https://ann:secret@proxy.example"))
    assert.isFalse(Environment.looksSecret("GOPROXY", "https://proxy.example:8080,direct"))
  })

  it("lets settings of harmless kinds through", () => {
    const harmless = {
      RAILS_ENV: "test",
      DJANGO_SETTINGS_MODULE: "shop.settings.dev",
      PGHOST: "db.internal",
      PORT: "3000",
      DEBUG: "express:*,-router",
      GOPRIVATE: "git.example.com/*",
      SSL_CERT_FILE: "/etc/ssl/company.pem",
      REQUESTS_CA_BUNDLE: "/etc/ssl/company.pem",
      GIT_AUTHOR_NAME: "Ann Arbor",
      DATABASE_URL: "postgres://localhost:5432/shop_test",
      LOG_LEVEL: "debug",
      ASSET_HOST: "https://cdn.example.com",
      FLASK_APP: "shop.web:create",
      SPRING_PROFILES_ACTIVE: "dev,local",
      VITE_TITLE: "demo",
      NEXT_PUBLIC_API: "https://api.example.com/v1?limit=10&sort=key",
      IMAGE_URL: "https://cdn.example.com/team/app/1.2.3-beta.4/this-is-a-long-but-plain-name-2026.png",
      GIT_CONFIG_FILE: "file:/nix/store/0c5b8k1vx2y3z4w5q6r7s8t9v0a1b2c3-git/config",
      NODE_PATH: "/nix/store/0c5b8k1vx2y3z4w5q6r7s8t9v0a1b2c3-node/lib"
    }
    const made = Environment.make(harmless)
    for (const [name, value] of Object.entries(harmless)) assert.strictEqual(made[name], value, name)
  })

  it("keeps every value out that has the form of a secret, whatever its name", () => {
    const secrets = {
      NIX_CONFIG: "access-tokens = github.com=abc",
      BUNDLE_RUBYGEMS__PKG__GITHUB__COM: "ada:abc",
      UV_INDEX_URL: "https://abc@pypi.example/simple",
      MAVEN_OPTS: "-Xmx1g -Drepo.password=abc",
      CONDA_CHANNEL_ALIAS: "https://conda.example/t/abcdefgh/x",
      RAILS_ENV: "ghp_0123456789abcdefghij",
      DEBUG: "sk-proj-0123456789abcdef",
      APP_MODE: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      APP_VERSION: "3f2a9c81d4e5b6a7980f1e2d3c4b5a69788796a5",
      SERVICE_HOST: "0f8fad5b-d9cb-469f-a165-70867728950e",
      JOB_ENV: "eyJhbGciOiJIUzI1NiJ9.e30.x",
      CERT_FILE: "-----BEGIN PRIVATE KEY-----",
      SENTRY_DSN: "https://sentry.example/1",
      TEAM_WEBHOOK_URL: "https://hooks.example.com/1",
      ALERT_URL: "https://hooks.slack.com/services/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",
      UPLOAD_URL: "https://a.blob.example.net/c?sv=2020&sig=pM1oIP4nSgQ8T0YrUcgy6nH2HA9Oh2tgvz",
      BOT_URL: "https://api.example.org/bot123456789:x/send",
      VITE_API: "gsk_0123456789abcdef",
      MAIL_URL: "Bearer abcdefghij",
      STORE_MODE: "GOCSPX-abc",
      DB_PASS: "x"
    }
    const made = Environment.make(secrets)
    for (const name of Object.keys(secrets)) assert.isUndefined(made[name], name)
    // Synapse finds a session's processes by it.
    const session = "3f2a9c81d4e5b6a7980f1e2d3c4b5a69"
    assert.strictEqual(Environment.make({ SYNAPSE_SESSION: session })["SYNAPSE_SESSION"], session)
    // A variable that the user names in full is passed on.
    assert.strictEqual(Environment.make(secrets, ["DB_PASS"])["DB_PASS"], "x")
  })

  it("keeps what loads code or runs it out of the kinds", () => {
    const made = Environment.make({
      BASH_ENV: "/x",
      LD_AUDIT_PATH: "/x",
      GCONV_PATH: "/x",
      XDG_RUNTIME_DIR: "/run/user/1"
    })
    assert.deepStrictEqual(Object.keys(made).sort(), Object.keys(defaults).sort())
  })
})
