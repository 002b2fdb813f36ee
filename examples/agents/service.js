import * as openid from 'openid-client'

/** A token for a service without a user. `authentication`: with a secret, or with a key that Grantor knows the public half of. */
export async function tokenOfService({ issuer, clientId, authentication, resource, scope }) {
  const options = new URL(issuer).protocol === 'http:' ? { execute: [openid.allowInsecureRequests] } : {}
  const grantor = await openid.discovery(new URL(issuer), clientId, {}, authentication, options)
  const { access_token: token } = await openid.clientCredentialsGrant(grantor, { resource, scope })
  return token
}

export const withSecret = (secret) => openid.ClientSecretBasic(secret)
export const withKey = (privateKey) => openid.PrivateKeyJwt(privateKey)
