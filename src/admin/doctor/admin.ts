import { isLoopbackHost } from '../../protocol/loopback.ts'
import { ok, warning, type Examination, type Finding } from './finding.ts'

/** Who reaches the administration, and how. */
export function checkAdmin({ choices }: Examination): readonly Finding[] {
  const { admin, isLoopbackIssuer, trustedProxies } = choices
  if (admin === undefined) return [ok('admin', 'The administration is off.')]
  const { host, port } = admin
  if (isLoopbackHost(host)) return [ok('admin', `The administration listens on ${host}, port ${port}.`)]
  if (isLoopbackIssuer) {
    return [
      warning(
        'admin',
        `The administration listens on ${host}, where others reach it without TLS: whoever listens in has its credentials.`,
        'Unset GRANTOR_ADMIN_HOST.',
      ),
    ]
  }
  if (trustedProxies.length === 0) {
    return [
      warning(
        'admin',
        `The administration listens on ${host}, but refuses everybody there: they come without TLS.`,
        'Unset GRANTOR_ADMIN_HOST, or name in GRANTOR_TRUST_PROXY the network of the proxy that ends TLS.',
      ),
    ]
  }
  return [ok('admin', `The administration listens on ${host}, port ${port}, for who comes by TLS.`)]
}
