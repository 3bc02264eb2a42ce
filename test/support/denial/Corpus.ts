/**
 * Commands that a sandbox denies something, and commands that fail for reasons of their own. They run in the project of a
 * World; `ROOT` stands for its root.
 */

/** A command, and the rule and the resource (after ROOT) that are to be named. */
export type Row = readonly [command: string, rule: string, resource: string]

const env = (command: string): Row => [command, "**/.env", "/project/.env"]
const ssh = (command: string, resource = "/home/.ssh"): Row => [command, "~/.ssh", resource]
const outside = (command: string, resource = "/elsewhere/new"): Row => [command, "not whitelisted", resource]
const key = (name: string, command: string): Row => [command, "**/*.key", `/project/${name}`]

export const denied: ReadonlyArray<Row> = [
  ...[
    "cat .env",
    "cat ./.env",
    "cat link",
    "cat < .env",
    "source .env",
    "cp .env new",
    "cp a.txt .env",
    "mv .env new",
    "mv a.txt .env",
    "rm -f .env",
    "ln .env new",
    "tar cf new.tar .env",
    "sed -i s/a/b/ .env",
    "sed s/a/b/ .env",
    "grep x .env",
    "awk 1 .env",
    "dd if=.env of=new",
    "head -1 .env",
    "tail -n1 .env",
    "xxd .env",
    "od .env",
    "sort .env",
    "diff .env a.txt",
    "cmp .env a.txt",
    "base64 .env",
    "strings .env",
    "wc .env",
    "split .env",
    "gzip .env",
    "tee .env < a.txt",
    "touch .env",
    "truncate -s 0 .env",
    "chmod 600 .env",
    "bash .env",
    "echo > .env",
    "xargs cat <<< .env",
    "make -f .env",
    "gcc -x c -include .env -E a.txt",
    "jq . .env",
    "zip new.zip .env",
    "openssl enc -in .env -base64",
    "openssl rsa -in .env",
    "sqlite3 .env .tables",
    "python3 -c 'open(\".env\")'",
    "python3 .env",
    "python3 -m json.tool .env",
    'python3 -c \'import os; os.rename(".env", "z")\'',
    'python3 -c \'import shutil; shutil.copy(".env", "z")\'',
    "python3 -c 'import pathlib; pathlib.Path(\".env\").unlink()'",
    "python3 -c 'import sys\ntry: open(\".env\")\nexcept OSError as e: sys.exit(e.strerror)'",
    "node -e 'fs.readFileSync(\".env\")'",
    "node -e 'fs.promises.readFile(\".env\").catch((e) => console.error(e.message))'",
    'node -e \'fs.renameSync(".env", "z")\'',
    "node .env",
    "perl -e 'open(F, q(.env)) or die $!'",
    "perl -e 'open(F, q(.env)) or die qq(cannot open .env: $!)'",
    "perl -pe 1 .env",
    "perl .env",
    "git hash-object .env",
    "git init -q . && git add .env",
    "git apply .env"
  ].map(env),
  ["rm -rf sub", "**/.env", "/project/sub/.env"],
  ["grep -r secret sub", "**/.env", "/project/sub/.env"],
  // Of two files the message names one by half: which it is, it does not tell, but the rule.
  ["(cd sub && cat .env)", "**/.env", "/project/.env"],
  ["python3 -c 'import shutil; shutil.rmtree(\"sub\")'", "**/.env", "/project/.env"],
  ["cp -r sub new", "**/.env", "/project/sub/.env"],
  ["cat away/.env", "**/.env", "/project/sub/.env"],
  ["cat vault/key.pem", "ROOT/project/vault", "/project/vault/key.pem"],
  ["mv vault other", "ROOT/project/vault", "/project/vault"],
  ["rmdir vault", "ROOT/project/vault", "/project/vault"],
  ...[
    "ls -la ../home/.ssh",
    "find ../home/.ssh",
    "cd ../home/.ssh",
    "ls keys/",
    "python3 -c 'import os; os.listdir(\"ROOT/home/.ssh\")'",
    "tar cf new.tar ../home/.ssh"
  ].map((command) => ssh(command)),
  ...["cat ROOT/home/.ssh/id_rsa", "cat keys/id_rsa", "ssh-keygen -y -f ../home/.ssh/id_rsa"].map((command) =>
    ssh(command, "/home/.ssh/id_rsa")
  ),
  key("a b/it's.key", 'cat "a b/it\'s.key"'),
  key("a b/it's.key", "tar cf new.tar 'a b'"),
  key("a b/it's.key", "python3 -c 'open(\"a b/it\\x27s.key\")'"),
  key("a b/it's.key", "node -e 'fs.readFileSync(\"a b/it\\x27s.key\")'"),
  key("a b/it's.key", "grep x a\\ b/it\\'s.key"),
  key("a b/it's.key", 'git hash-object "a b/it\'s.key"'),
  key("n\nl.key", "cat n*.key"),
  key("n\nl.key", "cat < n*.key"),
  key("n\nl.key", "grep x n*.key"),
  key("n\nl.key", "tar cf new.tar n*.key"),
  key("n\nl.key", "python3 -c 'open(\"n\\nl.key\")'"),
  key("ü.key", "cat ü.key"),
  key("ü.key", "python3 -c 'open(\"ü.key\".encode())'"),
  key("ü.key", "tar cf new.tar ü.key"),
  ...[
    "touch ../elsewhere/new",
    "mkdir ../elsewhere/new",
    "echo > ../elsewhere/new",
    "tee ../elsewhere/new < a.txt",
    "ln -s a ../elsewhere/new",
    "cp a.txt ../elsewhere/new",
    "dd if=a.txt of=../elsewhere/new",
    "tar cf ../elsewhere/new a.txt",
    "mkfifo ../elsewhere/new",
    "curl -o ../elsewhere/new file:///dev/null",
    "wget -O ../elsewhere/new http://127.0.0.1:1",
    "echo 'int main(){return 0;}' | gcc -x c -o ../elsewhere/new -",
    "git archive -o ../elsewhere/new HEAD",
    "git init ../elsewhere/new",
    "git init -q . && git clone -q . ../elsewhere/new",
    'python3 -c \'open("../elsewhere/new", "w")\'',
    "python3 -c 'import pathlib; pathlib.Path(\"../elsewhere/new\").mkdir()'",
    "python3 -m venv ../elsewhere/new",
    'node -e \'fs.writeFileSync("../elsewhere/new", "")\'',
    "node -e 'fs.mkdirSync(\"../elsewhere/new\")'",
    "node -e 'fs.mkdirSync(\"../elsewhere/new\", { recursive: true })'",
    "perl -e 'open(F, q(>ROOT/elsewhere/new)) or die $!'",
    "cd ../elsewhere && touch new"
  ].map((command) => outside(command)),
  ...[
    "chmod 600 ../elsewhere/readable.txt",
    "truncate -s 0 ../elsewhere/readable.txt",
    "echo >> ../elsewhere/readable.txt",
    "python3 -c 'import os; os.remove(\"ROOT/elsewhere/readable.txt\")'"
  ].map((command) => outside(command, "/elsewhere/readable.txt")),
  // The directory of what is to be removed is written, unless it is too wide to be allowed.
  ...["rm ../elsewhere/readable.txt", "mv ../elsewhere/readable.txt .", "rm -rf ../elsewhere"].map((command) =>
    outside(command, "/elsewhere")
  ),
  outside("rmdir ../elsewhere", "/elsewhere"),
  outside("sed -i s/a/b/ ../elsewhere/readable.txt", "/elsewhere"),
  outside("perl -i -pe 1 ../elsewhere/readable.txt", "/elsewhere"),
  outside("mktemp -d ../elsewhere/newXXXXXX", "/elsewhere"),
  outside("install a.txt ../elsewhere/", "/elsewhere/a.txt"),
  outside("git config --file ../elsewhere/config a.b c", "/elsewhere"),
  outside("git -C ../elsewhere init -q", "/elsewhere/.git")
]

/** Denials of which nothing is said: they stay without a name. */
export const silent: ReadonlyArray<string> = [
  "cat .env 2>/dev/null",
  "curl -sS -o ../elsewhere/new file:///dev/null",
  "python3 -c 'import os\nprint(os.access(\".env\", os.R_OK))'",
  "node -e 'try { fs.readFileSync(\".env\") } catch { process.exit(1) }'"
]

const message = (rule: string, resource: string, command: string, text: string) => ({ rule, resource, command, text })
const ofEnv = (text: string, command = "tool") => message("**/.env", "/project/.env", command, text)
const ofNew = (text: string, command = "tool") => message("not whitelisted", "/elsewhere/new", command, text)

/** What programs say that a test can't run everywhere. */
export const messages = [
  ofEnv("panic: open .env: permission denied\n\ngoroutine 1 [running]:"),
  ofEnv("2024/01/01 10:00:00 open ROOT/project/.env: permission denied"),
  ofEnv("Error: open .env: permission denied"),
  ofNew("go: could not create module cache: mkdir ../elsewhere/new: read-only file system"),
  ofEnv("error: couldn't read `.env`: Permission denied (os error 13)\n\nerror: aborting due to 1 previous error"),
  ofEnv('Error: Os { code: 13, kind: PermissionDenied, message: "Permission denied" }', "target/debug/tool .env"),
  ofNew(
    "    Creating binary (application) package\nerror: failed to create package `new` at `../elsewhere/new`\n\nCaused by:\n  failed to create directory `../elsewhere/new`\n\nCaused by:\n  Read-only file system (os error 30)"
  ),
  ofEnv(
    'Exception in thread "main" java.nio.file.AccessDeniedException: .env\n\tat java.base/sun.nio.fs.UnixException'
  ),
  ofEnv("java.io.FileNotFoundException: .env (Permission denied)\n\tat java.base/java.io.FileInputStream.open0"),
  ofNew("java.nio.file.FileSystemException: ROOT/elsewhere/new: Read-only file system"),
  ofEnv("-e:1:in `read': Permission denied @ rb_sysopen - .env (Errno::EACCES)\n\tfrom -e:1:in `<main>'"),
  ofEnv(
    "PHP Warning:  file_get_contents(.env): Failed to open stream: Permission denied in Command line code on line 1"
  ),
  ofEnv('rsync: [sender] send_files failed to open "ROOT/project/.env": Permission denied (13)'),
  ofNew('rsync: [Receiver] mkdir "ROOT/elsewhere/new" failed: Read-only file system (30)'),
  ofNew("ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: 'ROOT/elsewhere/new'"),
  ofEnv("npm error code EACCES\nnpm error syscall open\nnpm error path ROOT/project/.env\nnpm error errno -13"),
  ofEnv("lua: x.lua:1: .env: Permission denied"),
  ofEnv('".env" [Permission Denied]'),
  ofEnv("[ Error reading .env: Permission denied ]"),
  ofEnv("error: Uncaught (in promise) PermissionDenied: Permission denied (os error 13): readfile '.env'"),
  ofEnv('EACCES: Permission denied: opening ".env"'),
  ofEnv(
    "CMake Error at CMakeLists.txt:1 (file):\n  file failed to open for reading (Permission denied):\n\n    ROOT/project/.env"
  ),
  ofEnv("awk: fatal: cannot open file `.env' for reading: Permission denied"),
  ofEnv("cat: can't open '.env': Permission denied"),
  ofEnv("rg: ./.env: Permission denied (os error 13)"),
  message("~/.ssh", "/home/.ssh", "fd", "[fd error]: ../home/.ssh: Permission denied (os error 13)"),
  ofEnv("sqlite3.OperationalError: unable to open database file", 'python3 -c \'sqlite3.connect(".env").execute("")\''),
  ofNew(" EROFS  EROFS: read-only file system, mkdir 'ROOT/elsewhere/new'"),
  ofEnv("error An unexpected error occurred: \"EACCES: permission denied, open 'ROOT/project/.env'\"."),
  ofNew(
    "error TS5033: Could not write file 'ROOT/elsewhere/new': EROFS: read-only file system, open 'ROOT/elsewhere/new'."
  ),
  ofEnv("scp: .env: Permission denied"),
  ofEnv("gpg: can't open '.env': Permission denied"),
  ofEnv("docker: open .env: permission denied."),
  ofEnv("wc: .env: Permission denied\n0 total"),
  ofNew("make: *** [Makefile:2: all] Error 1\nmkdir: ../elsewhere/new: Read-only file system"),
  ofEnv("error: failed to load .env: io error: Permission denied (os error 13)"),
  ofEnv("Failed to read env file \u201c.env\u201d: EACCES"),
  ofEnv(
    "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nPermissionError: [Errno 13] Permission denied: PosixPath('.env')"
  ),
  ofNew("error: unable to create file ../elsewhere/new: Read-only file system"),
  ofNew("ld: can't open output file for writing: ../elsewhere/new, errno=30 (Read-only file system)")
]

/** Output that says "denied" although the policy denied nothing, and failures that the policy has no part in. */
export const harmless: ReadonlyArray<string> = [
  "./run.sh",
  "bash -c ./run.sh",
  'python3 -c \'import os; os.execv("./run.sh", ["x"])\'',
  'node -e \'require("child_process").execFileSync("./run.sh")\'',
  "echo 'cat: .env: Permission denied'",
  "echo 'Permission denied' >&2; false",
  "echo 'git@github.com: Permission denied (publickey).' >&2; false",
  "echo 'see .env: Permission granted' >&2; false",
  "echo see .env; echo 'git@github.com: Permission denied (publickey).' >&2; false",
  "echo see .env; ./run.sh",
  "echo see .env; echo 'src: Permission denied' >&2; false",
  "cat missing",
  "cat .env.example",
  "ls src/main.py/x",
  "kill -9 1",
  "mkdir a.txt",
  "rmdir src",
  "grep -c x a.txt",
  "python3 -c 'raise PermissionError(\"not for you\")'",
  "test -w ROOT/elsewhere/readable.txt",
  "ls -la",
  "stat .env",
  "exit 126",
  "sh -c 'exit 126'",
  "rm -rf missing",
  "node -e 'fs.mkdirSync(\"missing/new\")'",
  "mv a.txt b.txt && mv b.txt a.txt",
  "ln -s .env new"
]

/** Only where modes hold: root reads what nobody may. */
export const harmlessToUsers: ReadonlyArray<string> = [
  "cat own",
  "cp own new",
  "grep -r nothing own",
  "python3 -c 'open(\"own\")'",
  "node -e 'fs.readFileSync(\"own\")'",
  "perl -e 'open(F, q(own)) or die $!'",
  "tar cf new.tar own",
  "touch /etc/new",
  "mkdir /etc/new",
  "echo > /etc/new",
  "rm /etc/hostname",
  "cat /proc/1/environ"
]
