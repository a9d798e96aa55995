"""TLS of gRPC: one certificate for all services, which is renewed while they run."""

from dataclasses import dataclass
from pathlib import Path

import grpc

# As in a Kubernetes secret of type kubernetes.io/tls, to which cert-manager adds the authority.
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"


@dataclass(frozen=True, slots=True)
class Certificates:
    """A folder with a certificate, its key, and the authority that signed it.

    Attributes:
        folder: The folder, with the files `tls.crt`, `tls.key` and `ca.crt` in PEM.
    """

    folder: Path

    def missing(self) -> list[str]:
        """Names of the files that are not there."""
        return [name for name in (CERTIFICATE, KEY, AUTHORITY) if not (self.folder / name).is_file()]

    def server(self, *, callers_prove_themselves: bool) -> grpc.ServerCredentials:
        """Credentials of a server, which reads the files again for every connection.

        Args:
            callers_prove_themselves: Whether callers need a certificate of the same authority.

        Raises:
            OSError: A file cannot be read.
        """
        return grpc.dynamic_ssl_server_credentials(
            self._configuration(), self._configuration, require_client_authentication=callers_prove_themselves
        )

    def client(self) -> grpc.ChannelCredentials:
        """Credentials of a client, which trusts the authority alone and proves itself.

        Raises:
            OSError: A file cannot be read.
        """
        return grpc.ssl_channel_credentials(self._read(AUTHORITY), self._read(KEY), self._read(CERTIFICATE))

    def _configuration(self) -> grpc.ServerCertificateConfiguration:
        pair = (self._read(KEY), self._read(CERTIFICATE))
        return grpc.ssl_server_certificate_configuration([pair], root_certificates=self._read(AUTHORITY))

    def _read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()
