package orders;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Grantor answers whether a token is active and whether it is for this API. */
@Configuration
@Profile("introspection")
class Introspection {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().hasAuthority("SCOPE_orders:read"))
                .oauth2ResourceServer(server -> server.opaqueToken(token -> {}))
                .build();
    }
}
