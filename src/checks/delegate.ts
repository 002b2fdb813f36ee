import type { DelegateSettings } from '../ports/context.ts'
import type { ClientInspection } from '../ports/inspection.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import { failed, ok, warning, type Examination, type Finding } from './finding.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** How long before the credentials expire the doctor warns. */
const EARLY_MS = 30 * DAY_MS
const REMEDY = 'Run "grantor delegate create-credentials", and give the token to the application.'

/** Checks that the application that signs users in can answer, and names the providers at which no user signs in because of it. */
export function checkDelegate(examination: Examination): readonly Finding[] {
  const { delegate } = examination.choices
  const { clients } = examination.store
  if (delegate === undefined || clients === undefined) return []
  return [checkApplication(examination, delegate, clients), ...checkProviders(clients.providers)]
}

function checkApplication(
  { choices, now }: Examination,
  { url }: DelegateSettings,
  { delegateUntil: until }: ClientInspection,
): Finding {
  if (choices.admin === undefined) {
    const message = `Users sign in at ${url}, which cannot answer: the administration is off.`
    return failed('delegate', message, 'Set GRANTOR_ADMIN_PORT.')
  }
  if (until === undefined || until <= now) {
    const message = `Users sign in at ${url}, which has no valid credentials, so no user can sign in.`
    return failed('delegate', message, REMEDY)
  }
  const days = Math.floor((until - now) / DAY_MS)
  const message = `Users sign in at ${url}, whose credentials are valid for ${days} more days.`
  return until - now < EARLY_MS ? warning('delegate', message, REMEDY) : ok('delegate', message)
}

function checkProviders(providers: readonly ProviderRecord[]): readonly Finding[] {
  const enabled = providers.filter(({ disabledAt }) => disabledAt === undefined)
  if (enabled.length === 0) return []
  const names = enabled.map(({ id, settings }) => `${settings.name} (${id})`).join(', ')
  const message = `No user can sign in at ${names}, because your application signs users in.`
  return [warning('delegate', message, 'If that is intended: grantor provider disable <id>')]
}
