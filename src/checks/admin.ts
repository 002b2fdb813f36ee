import { consoleAddress } from '../protocol/client/console.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { ok, warning, type Examination, type Finding } from './finding.ts'

/** Checks how the administration can be reached. */
export function checkAdmin({ choices }: Examination): readonly Finding[] {
  const { admin, consoleUrl, isLoopbackIssuer, trustedProxies } = choices
  if (admin === undefined) return [ok('admin', 'The administration is off.')]
  const { host, port } = admin
  const console = consoleUrl === undefined ? '' : ` The console: ${consoleAddress(consoleUrl)}`
  if (isLoopbackHost(host)) return [ok('admin', `The administration is to listen on ${host}, port ${port}.${console}`)]
  if (isLoopbackIssuer) {
    return [
      warning(
        'admin',
        `The administration listens on ${host}, where other machines reach it without TLS, so the credentials can be read on the network.`,
        'Unset GRANTOR_ADMIN_HOST.',
      ),
    ]
  }
  if (trustedProxies.length === 0) {
    return [
      warning(
        'admin',
        `The administration listens on ${host}, but rejects all requests there, because they arrive without TLS.`,
        'Unset GRANTOR_ADMIN_HOST, or set GRANTOR_TRUST_PROXY to the network of the proxy that terminates TLS.',
      ),
    ]
  }
  return [ok('admin', `The administration is to listen on ${host}, port ${port}, for requests over TLS.${console}`)]
}
