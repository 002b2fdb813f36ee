import { DEVICE_CODE, JWT_BEARER, type ClientGrantType } from '../../../protocol/token/grant-types.ts'
import { authorizationCode } from './authorization-code.ts'
import { clientCredentials } from './client-credentials.ts'
import { deviceCode } from './device-code.ts'
import type { Grant } from './grant.ts'
import { jwtBearer } from './jwt-bearer.ts'
import { refreshToken } from './refresh-token.ts'

/** The grant types of clients at the token endpoint. One without a row does not compile. APIs have one, `token-exchange.ts`. */
export const GRANTS: Readonly<Record<ClientGrantType, Grant>> = {
  authorization_code: authorizationCode,
  client_credentials: clientCredentials,
  refresh_token: refreshToken,
  [JWT_BEARER]: jwtBearer,
  [DEVICE_CODE]: deviceCode,
}
