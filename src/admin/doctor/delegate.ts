import { failed, ok, warning, type Examination, type Finding } from './finding.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** How long before the credentials expire the doctor warns. */
const EARLY_MS = 30 * DAY_MS
const REMEDY = 'Run "grantor delegate create-credentials", and give the token to the application.'

/** Checks that the application that signs users in can answer. */
export function checkDelegate({ choices, store: { clients }, now }: Examination): readonly Finding[] {
  if (choices.delegate === undefined || clients === undefined) return []
  const { url } = choices.delegate
  if (choices.admin === undefined) {
    const message = `Users sign in at ${url}, which cannot answer: the administration is off.`
    return [failed('delegate', message, 'Set GRANTOR_ADMIN_PORT.')]
  }
  const until = clients.delegateUntil
  if (until === undefined || until <= now) {
    const message = `Users sign in at ${url}, which has no valid credentials, so nobody can sign in.`
    return [failed('delegate', message, REMEDY)]
  }
  const days = Math.floor((until - now) / DAY_MS)
  const message = `Users sign in at ${url}, whose credentials are valid for ${days} more days.`
  return [until - now < EARLY_MS ? warning('delegate', message, REMEDY) : ok('delegate', message)]
}
