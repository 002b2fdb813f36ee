import { createServer } from 'node:http'

/** A server that does nothing: what Node.js itself needs to start. */
createServer((_, response) => response.end()).listen(Number(process.env['PORT']), '127.0.0.1')
