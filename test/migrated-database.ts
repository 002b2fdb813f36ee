import type { TestContext } from 'node:test'
import pg from 'pg'
import { migrateAt } from '../src/store/postgres/migrate-at.ts'
import { createDatabase, execute, openDatabase, type TestDatabase } from './postgres.ts'

/** What databases are copied from, one a cluster. */
const TEMPLATE = 'grantor_migrated'
const NO_SUCH_DATABASE = '3D000'
const NAMES_TAKEN = ['42P04', '23505']

/**
 * As openTestDatabase(), but right after the migrations, which take more work than most tests. Those that are about a first
 * start or about migrations let the store make its tables.
 */
export function openMigratedDatabase(test: Pick<TestContext, 'after'>): Promise<string> {
  return openDatabase(test, async (adminUrl) => (await copyTemplate(adminUrl)) ?? copyNewTemplate(adminUrl))
}

async function copyNewTemplate(adminUrl: string): Promise<TestDatabase> {
  await makeTemplate(adminUrl)
  return (await copyTemplate(adminUrl)) ?? Promise.reject(new Error(`${TEMPLATE} is gone.`))
}

/** undefined: nobody has made it yet. */
async function copyTemplate(adminUrl: string): Promise<TestDatabase | undefined> {
  try {
    return await createDatabase(adminUrl, TEMPLATE)
  } catch (error) {
    if (codeOf(error) === NO_SUCH_DATABASE) return undefined
    throw error
  }
}

/** Migrates under a name of its own: the first rename wins, and nobody ever copies half a schema. */
async function makeTemplate(adminUrl: string): Promise<void> {
  const { name, url } = await createDatabase(adminUrl, 'template0')
  await migrateAt(url, Date.now())
  try {
    await execute(adminUrl, `alter database ${name} rename to ${TEMPLATE}`)
  } catch (error) {
    if (!NAMES_TAKEN.includes(codeOf(error) ?? '')) throw error
    await execute(adminUrl, `drop database ${name} with (force)`)
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
