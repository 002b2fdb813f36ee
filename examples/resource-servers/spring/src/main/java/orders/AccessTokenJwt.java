package orders;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.web.SecurityFilterChain;

/** A decoder that checks access tokens as RFC 9068 §4 says, typ at+jwt included. */
@Configuration
@Profile("at-jwt")
class AccessTokenJwt {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_orders:read"))
                .oauth2ResourceServer(server -> server.jwt(jwt -> {}))
                .build();
    }

    @Bean
    JwtDecoder decoder(@Value("${ISSUER}") String issuer, @Value("${RESOURCE}") String resource) {
        NimbusJwtDecoder decoder = NimbusJwtDecoder.withJwkSetUri(issuer + "/v2/oauth/jwks")
                .jwsAlgorithm(SignatureAlgorithm.ES256)
                .validateType(false) // The decoder's own check accepts typ JWT alone; the validator below checks typ.
                .build();
        decoder.setJwtValidator(
                JwtValidators.createAtJwtValidator().issuer(issuer).audience(resource).build());
        return decoder;
    }
}
