import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

const { ISSUER, RESOURCE } = process.env
const keys = createRemoteJWKSet(new URL(`${ISSUER}/v2/oauth/jwks`))

/** The claims of a JWT for this server; undefined for any other token. A revoked one counts until it expires. RFC 9068 §4. */
export async function verify(token) {
  try {
    const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: RESOURCE, typ: 'at+jwt' })
    return payload.cnf === undefined ? payload : undefined
  } catch (error) {
    // Keys that cannot be fetched are no fault of the token.
    const isOfKeys = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT'].includes(error.code)
    if (isOfKeys || !(error instanceof errors.JOSEError)) throw error
    return undefined
  }
}
