import type { ApiTokens } from '../ports/records/api.ts'
import { AdminError, conflict } from './admin-error.ts'

/** In seconds, as for GRANTOR_ACCESS_TOKEN_LIFETIME: keys stay published for that long after they signed. */
export const LIFETIME_LIMIT = 86_400

/** The default settings of the tokens of an API. */
export const SERVER_TOKENS: ApiTokens = {
  format: 'jwt',
  lifetime: undefined,
  algorithm: undefined,
  jwtType: 'at+jwt',
  applicationSubject: false,
}

/** Checks the settings of the tokens of an API. @throws AdminError when they contradict each other, or the lifetime is out of its range */
export function requireTokens({ format, lifetime, algorithm, jwtType, applicationSubject }: ApiTokens): ApiTokens {
  if (lifetime !== undefined && !(Number.isInteger(lifetime) && lifetime >= 1 && lifetime <= LIFETIME_LIMIT)) {
    throw new AdminError(`The lifetime of a token is a whole number of seconds from 1 to ${LIFETIME_LIMIT}.`)
  }
  if (format === 'opaque' && algorithm !== undefined) {
    throw conflict('Opaque tokens are not signed: leave the algorithm out.')
  }
  if (format === 'opaque' && jwtType !== SERVER_TOKENS.jwtType) {
    throw conflict('Opaque tokens are not JWTs: leave the type out.')
  }
  return { format, lifetime, algorithm, jwtType, applicationSubject }
}
