import type { Source } from './source.ts'
import { AUTH0 } from './sources/auth0.ts'
import { BETTER_AUTH } from './sources/better-auth.ts'
import { CLERK } from './sources/clerk.ts'
import { FIREBASE } from './sources/firebase.ts'
import { HYDRA } from './sources/hydra.ts'
import { KEYCLOAK } from './sources/keycloak.ts'
import { NEUTRAL } from './sources/neutral.ts'
import { SUPABASE } from './sources/supabase.ts'

/** Each is a verb of `grantor import`. */
export const SOURCES: readonly Source[] = [NEUTRAL, KEYCLOAK, AUTH0, CLERK, SUPABASE, FIREBASE, BETTER_AUTH, HYDRA]
