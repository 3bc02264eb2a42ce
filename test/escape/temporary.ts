/** The private `/tmp`: nothing of the machine's or of another project is seen in it, and no link in it leads a mount astray. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PolicyBuilder from "../../src/sandbox/config/PolicyBuilder.js"
import * as TemporaryDirectory from "../../src/sandbox/platform/TemporaryDirectory.js"
import { scene, together } from "../support/escape/Attack.js"
import { type Places, type Shape, write } from "../support/escape/World.js"
import { notices } from "../support/Told.js"

const other = ({ home }: Places) => `${home}/.synapse/tmp/0123456789abcdef`
const own = (world: Pick<Shape, "home" | "manager" | "project">) =>
  Effect.orDie(Effect.map(world.manager.buildPolicy(world.project), (policy) => policy?.temporary?.path ?? ""))

const plant = (world: Places) => {
  write(`${other(world)}/key`, world.secret)
  write(`${world.base}/tmp/shot.png`, world.secret)
}
const below = (places: Places) => `${places.base}/tmp`

const run = (world: Shape, command: string) =>
  Effect.map(world.execute(command), ({ stderr, stdout }) => stdout + stderr)

export const temporary = (ground: string): void => {
  const hidden = { temporary: below, prepare: plant } as const
  together(ground, "what another project, or the machine, has in its /tmp", hidden, {
    "is attacked": [
      { title: "reads another project's by its name", script: (at) => `cat ${other(at)}/key`, says: /No such file/ },
      {
        title: "lists them",
        script: ({ home }) => `ls -A ${home}/.synapse/tmp/. | wc -l; ls ${home}/.synapse/tmp/* | grep key`,
        says: /^1$/m
      },
      { title: "reads the machine's", script: (at) => `cat ${at.base}/tmp/shot.png`, says: /No such file/ },
      { title: "unmounts it", script: "umount -l /tmp", says: /superuser|ermitted/ }
    ],
    "and the own /tmp": [
      {
        title: "is the same at /tmp, at TMPDIR and at its own path, and stays",
        test: (world) =>
          Effect.gen(function* () {
            const path = yield* own(world)
            assert.strictEqual(
              yield* run(world, `echo one >/tmp/a; cat ${world.base}/tmp/a ${path}/a; stat -c %a /tmp`),
              "one\none\n1777\n"
            )
            assert.strictEqual(Fs.readFileSync(`${path}/a`, "utf8"), "one\n")
            assert.isFalse(Fs.existsSync(`${world.base}/tmp/a`))
            yield* world.manager.shutdown
            assert.strictEqual(yield* run(world, "cat /tmp/a"), "one\n")
          })
      },
      {
        title: "tells what only the machine's has",
        test: (world) =>
          Effect.gen(function* () {
            const told = yield* world.execute(`cat ${world.base}/tmp/shot.png`)
            assert.include(told.blockedReason ?? "", "the sandbox has a /tmp of its own")
            assert.include(told.blockedReason ?? "", `synapse sandbox allow ${world.base}/tmp/shot.png`)
            const unknown = yield* world.execute(`cat ${world.base}/tmp/nothing`)
            assert.isUndefined(unknown.blockedReason)
          })
      },
      {
        title: "tells once what only the machine's has, however a command names it and goes on",
        test: (world) =>
          Effect.gen(function* () {
            const place = `${world.base}/tmp`
            const commands = [
              (name: string) => `(cd ${place} && wc -c ${name})`,
              (name: string) => `cat ${place}/${name} || true`,
              (name: string) => `test -e ${place}/${name} || echo none`,
              (name: string) => `cat ${place}/${name} 2>/dev/null`,
              (name: string) => `node -e 'fs.readFileSync("${place}/" + "${name}")' 2>&1 | head -n 9`
            ]
            for (const [index, command] of commands.entries()) {
              const name = `m${index}.png`
              Fs.writeFileSync(`${place}/${name}`, "")
              const told = yield* world.execute(command(name))
              assert.include(
                told.denied?.what ?? "",
                `${place}/${name} is blocked by rule "private /tmp"`,
                command(name)
              )
              // A failure is explained each time, and so is that of a part of a pipeline.
              if (told.blocked !== true && index < 4) assert.isUndefined((yield* world.execute(command(name))).denied)
            }
            Fs.writeFileSync(`${place}/wc`, "")
            for (const command of [
              `cd ${place} && wc -c nothing || true; cd -`,
              `echo own >${place}/own; cat ${place}/own`,
              `echo ${place}/unread.png`
            ]) {
              Fs.writeFileSync(`${place}/own`, "")
              Fs.writeFileSync(`${place}/unread.png`, "")
              assert.isUndefined((yield* world.execute(command)).denied, command)
            }
          })
      },
      {
        title: "lets ordinary programs make their temporary files",
        test: (world) =>
          Effect.gen(function* () {
            const programs = [
              `f=$(mktemp) && echo one >$f && cat $f`,
              `d=$(mktemp -d) && seq 3 -1 1 | sort -T $d -S 1k | head -n 1`,
              `cat <<< one; cat <<E\none\nE`,
              `node -p 'const f = os.tmpdir() + "/n"; fs.writeFileSync(f, "one"); fs.readFileSync(f, "utf8")'`,
              `mkdir -p /tmp/t/d && echo one >/tmp/t/d/f && tar -C /tmp/t -czf /tmp/t.tgz d && tar -xzOf /tmp/t.tgz d/f`,
              `rm -rf r && git init -q r && cd r && GIT_EDITOR="cp $TMPDIR/note" git -c user.name=a -c user.email=a@b commit -q --allow-empty && git log --format=%s; cd - >/dev/null`,
              `python3 -c 'import tempfile; f = tempfile.NamedTemporaryFile("w+"); f.write("one"); f.seek(0); print(f.read())'`
            ]
            assert.strictEqual(yield* run(world, `export TMPDIR=${world.base}/tmp; echo one >$TMPDIR/note`), "")
            for (const program of programs) {
              const { exitCode, stderr, stdout } = yield* world.execute(program)
              const isAbsent = exitCode === 127
              if (!isAbsent) assert.match(`${stdout}${stderr}`, /^(?:one|1)\n(?:one\n)?$/, program)
            }
          })
      }
    ]
  })
  for (const permission of ["allow_once", "allow_session"] as const) {
    scene(ground, `shows what a person has allowed (${permission})`, { ...hidden, permission }, (world) =>
      Effect.gen(function* () {
        const file = `${world.base}/tmp/shot.png`
        const allowed = yield* world.execute(`cat ${file}`)
        assert.match(notices(allowed)?.join() ?? "", /^Allowed: /)
        assert.strictEqual(yield* run(world, `cat ${file}`), world.secret)
        if (permission === "allow_once") assert.match(yield* run(world, `cat ${file}`), /No such file/)
        else
          assert.match(yield* run(world, `echo x >>${file}; rm ${file}`), /Read-only[\s\S]*(busy|Read-only|ermitted)/)
        const path = yield* own(world)
        yield* world.manager.shutdown
        if (permission === "allow_session") assert.strictEqual(yield* run(world, `cat ${file}`), world.secret)
        yield* world.manager.shutdown
        assert.isFalse(Fs.existsSync(`${path}/shot.png`))
      })
    )
  }

  scene(
    ground,
    "holds a project that lies below it, whatever was planted there",
    { temporary: ({ base }) => base },
    (world) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* run(world, "cat README; ls -A /tmp | tr '\\n' ' '"), "read me\nhome project ")
        assert.match(yield* run(world, "mv /tmp/project /tmp/moved; name=.en; cat ${name}v"), /busy[\s\S]*denied/)
        const path = yield* own(world)
        yield* world.manager.shutdown
        for (const name of ["project", "home"]) {
          Fs.rmSync(`${path}/${name}`, { recursive: true, force: true })
          Fs.symlinkSync(world.outside, `${path}/${name}`)
        }
        assert.strictEqual(yield* run(world, "cat README; touch there; pwd"), `read me\n${world.project}\n`)
        assert.deepStrictEqual(Fs.readdirSync(world.outside).sort(), ["directory", "file", "run.sh"])
        assert.isTrue(Fs.existsSync(`${world.project}/there`))
      })
  )

  scene(ground, "is not swept while a session uses it", {}, (world) =>
    Effect.gen(function* () {
      const path = yield* own(world)
      yield* run(world, "echo kept >/tmp/a")
      const all = PolicyBuilder.temporariesOf(`${world.home}/.synapse`)
      assert.deepStrictEqual(TemporaryDirectory.clean(all), { removed: 0, used: 1 })
      assert.strictEqual(yield* run(world, "cat /tmp/a"), "kept\n")
      yield* world.manager.shutdown
      assert.deepStrictEqual(TemporaryDirectory.clean(all), { removed: 1, used: 0 })
      assert.isFalse(Fs.existsSync(path))
    })
  )
}
