import type { Source } from './source.ts'
import { AUTH0 } from './sources/auth0.ts'
import { KEYCLOAK } from './sources/keycloak.ts'
import { NEUTRAL } from './sources/neutral.ts'

/** Each is a verb of `grantor import`. */
export const SOURCES: readonly Source[] = [NEUTRAL, KEYCLOAK, AUTH0]
