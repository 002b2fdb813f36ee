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
builder.Services.AddAuthorizationBuilder().AddPolicy("orders:read", policy => policy.RequireAssertion(context =>
    context.User.FindFirst("scope")?.Value.Split(' ').Contains("orders:read") ?? false));

var app = builder.Build();
app.MapGet("/orders", () => new { orders = 7 }).RequireAuthorization("orders:read");
app.Run();
