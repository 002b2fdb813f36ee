// An agent that acts for a user, in several processes that share one sign-in: node agent.js <file of the sign-in>
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as openid from 'openid-client'

const [, , file] = process.argv
const { issuer, client, resource, refreshToken } = JSON.parse(readFileSync(file, 'utf8'))
const options = new URL(issuer).protocol === 'http:' ? { execute: [openid.allowInsecureRequests] } : {}
const grantor = await openid.discovery(new URL(issuer), client, {}, openid.None(), options)
// Another process may refresh at the same moment, with the same token. In one network each of them gets the newest one.
const tokens = await openid.refreshTokenGrant(grantor, refreshToken, { resource })
// A rename leaves no half-written file to a process that reads.
const draft = `${file}.${process.pid}`
writeFileSync(draft, JSON.stringify({ issuer, client, resource, refreshToken: tokens.refresh_token }), { mode: 0o600 })
renameSync(draft, file)
const answer = await fetch(resource, { headers: { authorization: `Bearer ${tokens.access_token}` } })
console.log(`process ${process.pid}: ${await answer.text()}`)
