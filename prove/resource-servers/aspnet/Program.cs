using Microsoft.AspNetCore.Authentication.JwtBearer;

var issuer = Environment.GetEnvironmentVariable("ISSUER")!;
var builder = WebApplication.CreateBuilder(args);

builder.Services.AddAuthentication(JwtBearerDefaults.AuthenticationScheme).AddJwtBearer(options =>
{
    // The handler looks for OpenID Connect discovery by default; Grantor's metadata is at RFC 8414's address.
    options.MetadataAddress = $"{issuer}/.well-known/oauth-authorization-server";
    options.RequireHttpsMetadata = !new Uri(issuer).IsLoopback;
    options.MapInboundClaims = false;
    options.TokenValidationParameters.ValidIssuer = issuer;
    options.TokenValidationParameters.ValidAudience = Environment.GetEnvironmentVariable("RESOURCE");
    options.TokenValidationParameters.ValidTypes = ["at+jwt"];
    options.TokenValidationParameters.ValidAlgorithms = ["ES256"];
});
builder.Services.AddAuthorizationBuilder().AddPolicy("notes:read", policy => policy.RequireAssertion(context =>
    context.User.FindFirst("scope")?.Value.Split(' ').Contains("notes:read") ?? false));

var app = builder.Build();
app.MapGet("/notes", () => new { notes = 7 }).RequireAuthorization("notes:read");
app.Run();
