import { JWT_BEARER, type GrantType } from '../../../protocol/token/grant-types.ts'
import { authorizationCode } from './authorization-code.ts'
import { clientCredentials } from './client-credentials.ts'
import type { Grant } from './grant.ts'
import { jwtBearer } from './jwt-bearer.ts'
import { refreshToken } from './refresh-token.ts'

/** The grant types of the token endpoint. A grant type without a row does not compile. */
export const GRANTS: Readonly<Record<GrantType, Grant>> = {
  authorization_code: authorizationCode,
  client_credentials: clientCredentials,
  refresh_token: refreshToken,
  [JWT_BEARER]: jwtBearer,
}
