import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** A release that is installed beside others, and the one after it. */

const run = promisify(execFile)
const MIGRATIONS = 'lib/store/migrations'
const PROGRAM = 'lib/cli/main.js'

/** What the next release adds to the schema, by the names of the files. */
export type Files = Readonly<Record<string, string>>

/** Every kind of change that a release may make (docs/migrations.md): expand, then backfill in batches with indexes beside the servers. */
export const RIGHT: Files = {
  '0002-expand.sql': 'alter table clients add column planted bigint;\n',
  '0003-backfill.sql': `-- each statement by itself
create index /*postgres concurrently*/ if not exists clients_unplanted on clients (client_id) where planted is null;
-- repeat until no row changes
update clients set planted = 1 where client_id in (
  select client_id from clients where planted is null order by client_id limit 3);
drop index /*postgres concurrently*/ if exists clients_unplanted;
create index /*postgres concurrently*/ if not exists clients_planted on clients (planted);
`,
}

/** A change that a release must not make, and the faults by which the upgrade must find it. `start`: the text of 0001-start.sql. */
interface Wrong {
  readonly change: (start: string) => Files
  readonly found: readonly RegExp[]
}

/** Statements by which a holder of each of these loses it, and nothing else does. */
const LOSSES: Readonly<Record<string, string>> = {
  'the secret': `update clients set secret_hash = 'lost' where secret_hash is not null`,
  'the key of a client': `update clients set metadata = replace(metadata, '"P-256"', '"P-384"')`,
  'the registration token': `update clients set management_hash = 'lost' where management_hash is not null`,
  'the refresh token': 'delete from grants',
  'the session and the consent': 'delete from sessions',
  'the app': 'delete from second_factors',
  'a recovery code': 'delete from recovery_codes',
  'the passkey': 'delete from passkeys',
  'the token of an administrator': 'delete from admin_credentials',
  'the initial access token': 'delete from initial_tokens',
  'the link': 'delete from links',
  'the credentials of an API': 'delete from apis',
}

export const WRONGS: Readonly<Record<string, Wrong>> = {
  'a changed 0001-start.sql': {
    change: (start) => ({ ...RIGHT, '0001-start.sql': start.replace('chosen_id text', 'chosen_id varchar(99)') }),
    found: [/with another 0001-start\.sql/],
  },
  'a column without a default that is not null': {
    change: () => ({ '0002-expand.sql': 'alter table clients add column planted bigint not null;\n' }),
    found: [/NOT NULL column|contains null values/],
  },
  'a column dropped that the old release reads': {
    change: () => ({ '0002-contract.sql': 'alter table clients drop column secret_hash;\n' }),
    found: [/under load|on the new schema|no such column: secret_hash/],
  },
  'rows deleted that holders need': {
    change: () => ({
      '0002-lose.sql': Object.values(LOSSES)
        .map((sql) => `${sql};\n`)
        .join(''),
    }),
    found: Object.keys(LOSSES).map((name) => new RegExp(`on the new schema: ${name}: `)),
  },
}

/** Unpacks the packed file into a folder, with the packages of this checkout that it declares, and others. Returns the folder of the package. */
export function installRelease(folder: string, packed: string, ...others: readonly string[]): string {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules, { recursive: true })
  execFileSync('tar', ['-xzf', packed, '-C', modules])
  const release = join(modules, 'grantor')
  renameSync(join(modules, 'package'), release)
  const { dependencies } = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const name of [...Object.keys(dependencies), ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name))
  }
  return release
}

/** Installs the release after another one, which differs by these migrations. */
export function installNext(folder: string, release: string, change: (start: string) => Files): string {
  const next = join(folder, 'node_modules/grantor')
  cpSync(dirname(release), dirname(next), { recursive: true, verbatimSymlinks: true })
  const start = readFileSync(join(release, MIGRATIONS, '0001-start.sql'), 'utf8')
  for (const [name, text] of Object.entries(change(start))) writeFileSync(join(next, MIGRATIONS, name), text)
  return next
}

/** Where the server of a release is, for `openServerProcess`. */
export function placeOf(release: string): { readonly checkout: URL; readonly script: string } {
  return { checkout: pathToFileURL(`${release}/`), script: PROGRAM }
}

/** Runs a command of a release. Returns what it printed. @throws Error whose `stderr` is what it printed, if it ends with another code than 0 */
export async function runCommand(
  release: string,
  settings: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<string> {
  const env = { PATH: process.env['PATH'], ...settings }
  const { stdout } = await run(process.execPath, [join(release, PROGRAM), ...words], { env, cwd: dirname(release) })
  return stdout
}
