import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { digestOf, type Migration } from '../src/store/migrations.ts'

/** The digests of the migrations that a release had: a database that applied one accepts no other text of it (docs/migrations.md). */
export type Released = Readonly<Record<string, string>>

const FILE = 'src/store/migrations/released.json'

/** Before the first release there is no file. */
export function readReleased(): Released {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Released) : {}
}

/** What a release writes: from then on these migrations do not change. */
export function writeReleased(migrations: readonly Migration[]): void {
  const digests = Object.fromEntries(migrations.map((one) => [nameOf(one), digestOf(one)]))
  writeFileSync(FILE, `${JSON.stringify(digests, undefined, 2)}\n`)
}

/** Which released migrations are not as they were released. */
export function changedMigrations(released: Released, migrations: readonly Migration[]): readonly string[] {
  const digests = new Map(migrations.map((one) => [nameOf(one), digestOf(one)]))
  return Object.entries(released)
    .filter(([name, digest]) => digests.get(name) !== digest)
    .map(
      ([name]) =>
        `${name} was released and is ${digests.has(name) ? 'changed' : 'missing'}: write a further migration.`,
    )
}

function nameOf({ version, name }: Migration): string {
  return `${String(version).padStart(4, '0')}-${name}.sql`
}
