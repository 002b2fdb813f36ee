import type { TestContext } from 'node:test'
import type { Source } from '../../src/import/source.ts'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { BETTER_AUTH } from '../../src/import/sources/better-auth.ts'
import { CLERK } from '../../src/import/sources/clerk.ts'
import { FIREBASE } from '../../src/import/sources/firebase.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import { NEUTRAL } from '../../src/import/sources/neutral.ts'
import { SUPABASE } from '../../src/import/sources/supabase.ts'
import { aUserLine, writeInput, writeRecords } from './importing.ts'

/** A user of an export that a test makes, and the members that matter to the test. */
export interface MadeUser {
  readonly id: string
  readonly members: object
}

/** Writes an export of a system. */
export interface MadeExport {
  readonly source: Source
  readonly write: (t: Pick<TestContext, 'after'>, users: readonly MadeUser[]) => string
}

const emailOf = (id: string) => `${id}@acme.test`

/** The columns of the dashboard's file, and those that only its API has. */
const CLERK_COLUMNS =
  'id,primary_email_address,verified_email_addresses,totp_secret,password_digest,password_hasher,two_factor_enabled,totp_enabled,backup_code_enabled,passkeys,banned,locked'.split(
    ',',
  )

export const MADE_KEYCLOAK = lineless(KEYCLOAK, 'users', (id) => ({
  id,
  username: id,
  email: emailOf(id),
  enabled: true,
}))
export const MADE_AUTH0 = ofLines(AUTH0, (id) => ({ user_id: `auth0|${id}`, email: emailOf(id) }))
export const MADE_SUPABASE = ofLines(SUPABASE, (id) => ({ id, email: emailOf(id), identities: [], mfa_factors: [] }))
export const MADE_FIREBASE = lineless(FIREBASE, 'users', (id) => ({ localId: id, email: emailOf(id) }))
export const MADE_BETTER_AUTH = ofLines(BETTER_AUTH, (id) => ({ id, email: emailOf(id), accounts: [] }))
export const MADE_NEUTRAL = ofLines(NEUTRAL, aUserLine)
export const MADE_CLERK: MadeExport = {
  source: CLERK,
  write(t, users) {
    const rows = users.map(({ id, members }) => {
      const cells = new Map(Object.entries({ id, primary_email_address: emailOf(id), ...members }))
      return CLERK_COLUMNS.map((name) => cells.get(name) ?? '').join(',')
    })
    return writeInput(t, [CLERK_COLUMNS.join(','), ...rows].join('\n'))
  },
}

function ofLines(source: Source, usual: (id: string) => object): MadeExport {
  const write: MadeExport['write'] = (t, users) =>
    writeRecords(
      t,
      users.map(({ id, members }) => ({ ...usual(id), ...members })),
    )
  return { source, write }
}

/** An export that is one document. */
function lineless(source: Source, list: string, usual: (id: string) => object): MadeExport {
  const write: MadeExport['write'] = (t, users) =>
    writeInput(t, JSON.stringify({ [list]: users.map(({ id, members }) => ({ ...usual(id), ...members })) }))
  return { source, write }
}
