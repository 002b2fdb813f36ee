import express from 'express'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

/** The notes of each user, for the browser application and for the MCP server. Each request needs a token for this API. */
export function openApi({ issuer, resource, appOrigin }) {
  const keys = createRemoteJWKSet(new URL(`${issuer}/v2/oauth/jwks`))
  const notes = new Map()
  const api = express()

  const needs = (scope) => async (request, response, next) => {
    const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource, typ: 'at+jwt' })
      // A token that is bound to a key is no bearer token.
      if (payload.cnf !== undefined) return response.sendStatus(401)
      if (!String(payload.scope).split(' ').includes(scope)) return response.sendStatus(403)
      request.claims = payload
      return next()
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError)) throw cause
      return response.set('www-authenticate', 'Bearer error="invalid_token"').sendStatus(401)
    }
  }

  api.use((request, response, next) => {
    response.set({
      'access-control-allow-origin': appOrigin,
      'access-control-allow-headers': 'authorization, content-type',
    })
    return request.method === 'OPTIONS' ? response.sendStatus(204) : next()
  })
  api.get('/notes', needs('notes:read'), ({ claims }, response) => response.json(notes.get(claims.sub) ?? []))
  api.post('/notes', needs('notes:write'), express.json(), ({ claims, body }, response) => {
    // "act" names the API that called for the user.
    const note = { text: String(body.text), by: claims.act?.sub ?? claims.client_id }
    notes.set(claims.sub, [...(notes.get(claims.sub) ?? []), note])
    response.status(201).json(note)
  })
  return api
}
